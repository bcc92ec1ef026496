import { type AddressGuard, hostOf } from "./address-guard.ts";
import type { Resolve } from "./resolve.ts";

export type LookupDeps = { guard: Pick<AddressGuard, "outsideProblemOf" | "mayConnect">; resolve: Resolve };

const limitMs = 2_000;

/**
 * Why an address cannot be reached although the guard would let it be tried: it may lead into the operator's own ranges
 * only, and its name does not lead there now. Null for all others, and for a name without an address: it may get one.
 */
export const addressLookup =
  ({ guard, resolve }: LookupDeps) =>
  async (url: URL): Promise<string | null> => {
    const problem = guard.outsideProblemOf(url);
    if (problem === null) return null;
    const addresses = await resolve(hostOf(url), AbortSignal.timeout(limitMs)).catch(() => []);
    return addresses.every((address) => guard.mayConnect(address, url)) ? null : problem;
  };
