import { isIPv6 } from "node:net";
import { RateLimited, rateHeaders } from "../../limits/rate.ts";
import type { TakeFrom } from "../../limits/take-token.ts";
import type { Check, Context } from "../state.ts";

export type EdgeLimit = { perSecond: number; burst: number };

/** Proxies of mail providers fetch images and follow links for many people from one address. */
const outsideFactor = 5;

/**
 * Requests of one source to all replicas; a rate of 0 is no limit. Callbacks have limits of their own, since a provider's
 * come from few addresses. Source: docs/reference/limits.md#edge-rate.
 */
export const edgeLimit = ({ perSecond, burst }: EdgeLimit, take: TakeFrom): Check => {
  const buckets = {
    edge: { capacity: burst, perSecond },
    outside: { capacity: outsideFactor * burst, perSecond: outsideFactor * perSecond },
    sdk_ip: devices,
  };
  return async (ctx) => {
    const policy = policyOf(ctx);
    if (policy === null) return null;
    if (perSecond === 0) return unlimited(ctx, burst);
    const state = await take(`${policy}:${sourceOf(ctx.ip)}`, buckets[policy]);
    if (!state.isAllowed) return new RateLimited(policy, "too many requests from this address", state);
    Object.assign(ctx.state.headers, rateHeaders(policy, state));
    return null;
  };
};

/** Requests of devices behind one address. */
const devices = { capacity: 120, perSecond: 60 };

const policyOf = ({ path }: Context): "edge" | "outside" | "sdk_ip" | null => {
  if (path.startsWith("/v1/")) return "edge";
  if (path.startsWith("/sdk/")) return "sdk_ip";
  return path.startsWith("/ingress/") ? null : "outside";
};

/** Every reply has these headers. */
const unlimited = (ctx: Context, limit: number): null => {
  const state = { isAllowed: true, limit, remaining: limit, resetSeconds: 0, windowSeconds: 1 };
  Object.assign(ctx.state.headers, rateHeaders("edge", state));
  return null;
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
