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
/** Everything else of IPv6 is link-local, multicast or reserved. */
const GLOBAL_IPV6 = blockList(["2000::/3"]);

/** Takes an IPv4 or IPv6 address, without brackets. */
export function networkOf(address: string): Network {
  const bare = address.replace(/%.*$/, "");
  const ip = isIPv6(bare) ? (embeddedIPv4(bare) ?? bare) : bare;
  const family = isIPv6(ip) ? "ipv6" : "ipv4";
  if (LOOPBACK.check(ip, family)) return "loopback";
  if (PRIVATE.check(ip, family)) return "private";
  const isGlobal = family === "ipv4" || GLOBAL_IPV6.check(ip, family);
  return SPECIAL.check(ip, family) || !isGlobal ? "special" : "public";
}

/** The IPv4 address that an IPv6 address stands for: one that is mapped, or one that NAT64 translates. */
function embeddedIPv4(address: string): string | undefined {
  // The URL parser writes every address in its one shortest form.
  const { hostname } = new URL(`http://[${address}]`);
  const groups = /^\[(?:::ffff:|64:ff9b::)([\da-f]{1,4}):([\da-f]{1,4})\]$/.exec(hostname)?.slice(1);
  return groups
    ?.map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255])
    .join(".");
}

function blockList(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = "", bits] = subnet.split("/");
    list.addSubnet(address, Number(bits), isIPv6(address) ? "ipv6" : "ipv4");
  }
  return list;
}
