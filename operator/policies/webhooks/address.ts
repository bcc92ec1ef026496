import { type AddressGuard, hostOf } from "#core/runtime/http/address-guard.ts";
import type { Resolve } from "#core/runtime/http/resolve.ts";
import { type Finding, refused, waiting } from "../conditions.ts";

/** `retryMs`: when to look again, because no event says that a name leads elsewhere. */
export type AddressProblem = { finding: Finding; retryMs?: number };

const lookUpMs = 3_000; // as long as a dispatcher takes for a whole connection
const retryMs = 30_000;

/**
 * Why nothing can be sent to an address; null when something can. A name that is allowed only inside the operator's
 * ranges is looked up, because dispatchers would refuse every request to another place. `isTaken`: the address was
 * accepted before, and stays so when the name server does not answer.
 */
export const addressProblem = async (
  { guard, resolve }: { guard: AddressGuard; resolve: Resolve },
  { address, isTaken }: { address: string; isTaken: boolean },
  signal: AbortSignal,
): Promise<AddressProblem | null> => {
  const url = URL.parse(address);
  const problem = url === null ? "it is no address" : guard.problemOf(url);
  if (url === null || problem !== null) return { finding: refused("AddressRefused", `spec.url: ${problem}`) };
  const problemOutside = guard.outsideProblemOf(url);
  if (problemOutside === null) return null;
  const found = await resolve(hostOf(url), AbortSignal.any([signal, AbortSignal.timeout(lookUpMs)])).catch(() => []);
  if (found.length > 0 && found.every((one) => guard.mayConnect(one, url))) return null;
  if (found.length > 0)
    return { finding: refused("AddressRefused", `spec.url: ${outside} ${problemOutside}`), retryMs };
  return isTaken ? null : { finding: waiting("AddressUnresolved", `spec.url: ${unresolved}`), retryMs };
};

const unresolved =
  "DNS does not know the name (the whole of it, without search domains), which must lead into allowed ranges";
const outside = "the name leads out of the allowed ranges, and there";
