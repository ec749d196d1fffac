// Which kind of network an IP address belongs to. Pure.

import { BlockList, isIPv6 } from "node:net";

/** `special`: link-local, where clouds serve their credentials, and all that is no host on the internet. */
export type Network = "public" | "private" | "loopback" | "special";

const LOOPBACK = blockList(["127.0.0.0/8", "::1/128"]);
const PRIVATE = blockList([
  "10.0.0.0/8",
  "100.64.0.0/10",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "fc00::/7",
]);
const SPECIAL = blockList([
  "0.0.0.0/8",
  "169.254.0.0/16",
  "192.0.0.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  // They hold IPv4 addresses: Teredo and 6to4.
  "2001::/32",
  "2002::/16",
]);
/** The internet. Everything else of IPv6 is link-local, multicast or reserved. */
const GLOBAL = blockList(["0.0.0.0/0", "2000::/3"]);

/** Takes an IPv4 or IPv6 address, without brackets. */
export function networkOf(address: string): Network {
  const ip = address.replace(/%.*$/, "");
  const family = isIPv6(ip) ? "ipv6" : "ipv4";
  if (LOOPBACK.check(ip, family)) return "loopback";
  if (PRIVATE.check(ip, family)) return "private";
  return SPECIAL.check(ip, family) || !GLOBAL.check(ip, family) ? "special" : "public";
}

/** Holds an IPv4 subnet also as IPv6 addresses stand for it: mapped ones, and those that NAT64 translates. */
function blockList(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = "", bits] = subnet.split("/");
    if (isIPv6(address)) list.addSubnet(address, Number(bits), "ipv6");
    else
      for (const prefix of ["::ffff:", "64:ff9b::"])
        list.addSubnet(`${prefix}${address}`, 96 + Number(bits), "ipv6");
  }
  return list;
}
