import { isIPv6 } from "node:net";
import type { Clock } from "#core/domain/clock.ts";
import { localBuckets, RateLimited, rateHeaders } from "../../limits/rate.ts";
import type { Check } from "../state.ts";

export type EdgeLimit = { perSecond: number; burst: number };

const mostAddresses = 50_000; // 200 bytes each; the least recently seen are forgotten

/** Requests of one source, in this process; a rate of 0 is no limit. Source: docs/reference/limits.md#edge-rate. */
export const edgeLimit = ({ perSecond, burst }: EdgeLimit, clock: Clock): Check => {
  const buckets = localBuckets({ max: mostAddresses, clock });
  const bucket = { capacity: burst, perSecond };
  return (ctx) => {
    const isLimited = perSecond > 0 && ctx.path.startsWith("/v1/");
    const state = isLimited ? buckets.take(sourceOf(ctx.ip), bucket) : buckets.full(bucket);
    if (!state.isAllowed) return new RateLimited("too many requests from this address", state);
    Object.assign(ctx.state.headers, rateHeaders(state));
    return null;
  };
};

/**
 * Whom an address is counted as: an IPv6 address as its network of 64 bits, since whoever has one of those addresses has
 * them all. Source: RFC 4291 2.5.1.
 */
export const sourceOf = (address: string): string => {
  if (address.includes(".") || !isIPv6(address)) return address; // IPv4, plain or mapped
  const [head = "", tail] = address.split("::");
  const [before, after] = [groupsOf(head), groupsOf(tail)];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array.from({ length: zeros }, () => "0"), ...after];
  return `${groups.slice(0, 4).join(":")}::/64`;
};

const groupsOf = (text = ""): string[] => (text === "" ? [] : text.split(":"));
