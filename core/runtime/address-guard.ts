import { BlockList, isIP } from "node:net";

export type AddressGuard = {
  /** Why a request to this address must not be made, before its name is looked up; null when it may be tried. */
  problemOf: (url: URL) => string | null;
  /** Whether a connection to this IP address may be made. Plain `http` goes to allowed ranges only. */
  mayConnect: (address: string, protocol: string) => boolean;
};

/**
 * Judges addresses that users give (webhooks, push endpoints): https only, no private, local or reserved network.
 * `allow` lists ranges (`10.1.0.0/16`, `::1`) of the operator's own that may be reached all the same, over plain http too.
 */
export const addressGuard = ({ allow }: { allow: readonly string[] }): AddressGuard => {
  const allowed = ranges(allow);
  const isAllowed = (address: string): boolean => contains(allowed, address);
  const mayConnect = (address: string, protocol: string): boolean =>
    isIP(address) !== 0 && (isAllowed(address) || (protocol === "https:" && !isForbidden(address)));
  const problemOf = (url: URL): string | null => {
    if (url.protocol !== "https:" && url.protocol !== "http:") return "only https addresses are allowed";
    if (url.username !== "" || url.password !== "") return "an address must not contain credentials";
    const literal = url.hostname.replace(/^\[(.*)\]$/, "$1"); // WHATWG URL has normalised every spelling of an IP address
    if (isIP(literal) !== 0) return mayConnect(literal, url.protocol) ? null : refusal(url.protocol);
    return url.protocol === "http:" && allow.length === 0 ? refusal(url.protocol) : null;
  };
  return { problemOf, mayConnect };
};

const refusal = (protocol: string): string =>
  protocol === "http:" ? "only https addresses are allowed" : "private and local addresses are not allowed";

const isForbidden = (address: string): boolean => {
  if (isIP(address) === 4) return contains(forbiddenV4, address);
  return contains(nat64, address) ? contains(forbiddenV4, embeddedV4(address)) : contains(forbiddenV6, address);
};

const contains = (list: BlockList, address: string): boolean => {
  const [bare = address] = address.split("%", 1); // a zone (fe80::1%eth0) does not change what the address is
  return list.check(bare, isIP(bare) === 6 ? "ipv6" : "ipv4");
};

/** The IPv4 address in the last 32 bits of a NAT64 address. Source: RFC 6052 2.1. */
const embeddedV4 = (address: string): string => {
  const [high = 0, low = 0] = new URL(`http://[${address}]`).hostname
    .slice(1, -1)
    .split(":")
    .slice(-2)
    .map((group) => Number.parseInt(group || "0", 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
};

const ranges = (texts: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const text of texts) {
    const [address = "", bits, ...rest] = text.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    const most = family === "ipv6" ? 128 : 32;
    const prefix = bits === undefined ? most : Number(bits);
    if (
      isIP(address) === 0 ||
      rest.length > 0 ||
      bits === "" ||
      !Number.isInteger(prefix) ||
      prefix < 0 ||
      prefix > most
    ) {
      throw new RangeError(`not an address range: ${text}`);
    }
    list.addSubnet(address, prefix, family);
  }
  return list;
};

const nat64 = ranges(["64:ff9b::/96"]);

/** Networks that are not the public internet. Source: the IANA special-purpose registries (RFC 6890 and later). */
const forbiddenV4 = ranges([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
]);

/** A list of its own: a check of an IPv4 address would find its mapped form in `::/8`. */
const forbiddenV6 = ranges([
  "::/8", // unspecified, loopback, IPv4-mapped and -compatible, NAT64 but for what embeddedV4 admits
  "100::/64",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
  "5f00::/16",
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
]);
