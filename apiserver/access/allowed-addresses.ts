import { BlockList, isIPv6 } from "node:net";
import { AppError } from "#core/errors.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";

/** Refuses a request that comes from elsewhere than its key may; null when it may. Source: docs/reference/api-keys.md#addresses. */
export const addressRefusal = ({ allowed_addresses: networks }: ApiKeyRow, ip: string): AppError | null => {
  if (networks === undefined || networks === null) return null;
  const list = known.get(networks) ?? networksOf(networks);
  known.set(networks, list);
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(ip)?.[1] ?? ip; // a socket of both families
  if (list.check(mapped, isIPv6(mapped) ? "ipv6" : "ipv4")) return null;
  return new AppError("HS_IP_NOT_ALLOWED", "this key may not be used from this address", { ip });
};

/** Of the rows that are cached: each is read once. */
const known = new WeakMap<readonly string[], BlockList>();

/** @throws what Node throws for a text that is no network */
export const networksOf = (networks: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    list.addSubnet(address, Number(bits), isIPv6(address) ? "ipv6" : "ipv4");
  }
  return list;
};
