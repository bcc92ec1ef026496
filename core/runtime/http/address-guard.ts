import { BlockList, isIP } from "node:net";

export type AddressGuard = ReturnType<typeof addressGuard>;

export type AddressGuardOptions = {
  /** Ranges (`10.1.0.0/16`, `::1`) of the operator's own that may be reached all the same: over plain http too, on any port. */
  allow: readonly string[];
  /** What the public internet may be reached on. */
  ports?: readonly number[];
};

/** Of https receivers; every other port of the public internet is another service's. */
export const standardPorts: readonly number[] = [443, 8443];

/**
 * Judges addresses that users give (webhooks, push endpoints, mail servers): https only, usual ports only, no private, local or
 * reserved network. A name is judged twice: as it is written, and by every address that it leads to.
 * @throws RangeError when a member of `allow` is no range
 */
export const addressGuard = ({ allow, ports = standardPorts }: AddressGuardOptions) => {
  const allowed = ranges(allow);
  const isOpen = (url: URL): boolean => url.protocol === "https:" && ports.includes(portOf(url));
  /** Whether a connection may be made to this IP address for a request to `url`. */
  const mayConnect = (address: string, url: URL): boolean =>
    isIP(address) !== 0 && (contains(allowed, address) || (isOpen(url) && !isForbidden(address)));
  /** Whether a connection may be made to this IP address for another protocol, whose servers listen on ports of its own. */
  const mayReach = (address: string): boolean =>
    isIP(address) !== 0 && (contains(allowed, address) || !isForbidden(address));
  /** Why a request to this address must not be made, before its name is looked up; null when it may be tried. */
  const problemOf = (url: URL): string | null => {
    if (url.protocol !== "https:" && url.protocol !== "http:") return onlyHttps;
    if (url.username !== "" || url.password !== "") return "an address must not contain credentials";
    const host = hostOf(url);
    const address = isLocalhost(host) ? "127.0.0.1" : host;
    const mayPass = isIP(address) === 0 ? isOpen(url) || allow.length > 0 : mayConnect(address, url);
    return mayPass ? null : refusal(url, ports);
  };
  /** Why a name must lead into the operator's own ranges to be reached by this url; null when it may lead anywhere. */
  const outsideProblemOf = (url: URL): string | null =>
    isIP(hostOf(url)) !== 0 || isOpen(url) ? null : refusal(url, ports);
  return { problemOf, outsideProblemOf, mayConnect, mayReach };
};

/**
 * The host of a url as DNS and TLS know it: without brackets and the root's dot. `URL` has normalised every spelling of
 * an IP address before.
 */
export const hostOf = ({ hostname }: URL): string =>
  hostname.startsWith("[") ? hostname.slice(1, -1) : hostname.replace(/\.$/, "");

/** The port of an http or https url. */
export const portOf = ({ port, protocol }: URL): number =>
  port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);

/** A name that means this machine everywhere. Source: RFC 6761 6.3. */
const isLocalhost = (host: string): boolean => host === "localhost" || host.endsWith(".localhost");

const onlyHttps = "only https addresses are allowed";

const refusal = (url: URL, ports: readonly number[]): string => {
  if (url.protocol === "http:") return onlyHttps;
  if (!ports.includes(portOf(url))) return `only these ports are allowed: ${ports.join(", ")}`;
  return "private and local addresses are not allowed";
};

const isForbidden = (address: string): boolean => {
  if (isIP(address) === 4) return contains(forbiddenV4, address);
  if (contains(nat64, address)) return contains(forbiddenV4, embeddedV4(address));
  return !contains(globalV6, address) || contains(forbiddenV6, address);
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

/** All of IPv6 that has been given out to the internet; the rest is reserved. Source: IANA, IPv6 address space. */
const globalV6 = ranges(["2000::/3"]);

/** What of it is no public network. */
const forbiddenV6 = ranges(["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);
