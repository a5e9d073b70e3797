// Which addresses a webhook may go to. A name is resolved at every attempt, all of its addresses are looked at, and the
// connection goes to the very address that was looked at: a name that changes in between gains nothing.

import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  PRIVATE.addSubnet(network, prefix, "ipv4");
}
// Global unicast is 2000::/3; inside it, what only carries an IPv4 address or leads nowhere.
const GLOBAL = new BlockList();
GLOBAL.addSubnet("2000::", 3, "ipv6");
const NOT_GLOBAL = new BlockList();
for (const [network, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const) {
  NOT_GLOBAL.addSubnet(network, prefix, "ipv6");
}

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a name. @throws when it has none */
export type Resolve = (host: string) => Promise<readonly Address[]>;

export const resolveName: Resolve = async (host) => {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

/** Whether an address is nobody else's: loopback, link-local, private, shared, reserved, multicast, or a disguise of one. */
export function isPrivate({ address, family }: Address): boolean {
  if (isIP(address) !== family) return true;
  if (family === 4) return PRIVATE.check(address, "ipv4");
  return !GLOBAL.check(address, "ipv6") || NOT_GLOBAL.check(address, "ipv6");
}

export type Checked =
  | { readonly kind: "go"; readonly to: Address }
  | { readonly kind: "refused"; readonly detail: string }
  | { readonly kind: "unknown"; readonly detail: string };

/** @param allowPrivate Any address will do. */
export async function checkedAddress(url: URL, allowPrivate: boolean, resolve: Resolve): Promise<Checked> {
  if (url.protocol !== "https:" && !(url.protocol === "http:" && allowPrivate)) {
    return { kind: "refused", detail: "it is not https, and allowPrivate is not set" };
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  let addresses: readonly Address[];
  try {
    addresses = await resolve(host);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "no address";
    return { kind: "unknown", detail: `its name cannot be resolved: ${code}` };
  }
  const [first] = addresses;
  if (first === undefined) return { kind: "unknown", detail: "its name has no address" };
  if (!allowPrivate && addresses.some(isPrivate)) {
    return { kind: "refused", detail: "its name leads to a private address, and allowPrivate is not set" };
  }
  return { kind: "go", to: first };
}
