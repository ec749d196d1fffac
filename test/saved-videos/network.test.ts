import { expect, test } from "vitest";
import { networkOf } from "../../src/saved-videos/network.ts";

test.each([
  [
    "public",
    ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"],
  ],
  ["loopback", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1"]],
  [
    "private",
    ["10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "198.18.0.1", "fd00::1"],
  ],
  ["private", ["::ffff:10.0.0.1", "64:ff9b::192.168.0.1"]],
  ["special", ["169.254.169.254", "fe80::1", "fe80::1%eth0", "::ffff:169.254.169.254", "0.0.0.0", "::"]],
  ["special", ["224.0.0.1", "255.255.255.255", "ff02::1", "2002:a00:1::", "::10.0.0.1"]],
])("an address is %s: %j", (network, addresses) => {
  expect(addresses.map(networkOf)).toEqual(addresses.map(() => network));
});
