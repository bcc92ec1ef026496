import { tenantPlaces } from "#core/queue/jetstream/tenant-places.ts";
import { tenantTurns as turnsOfHints } from "#core/queue/jetstream/tenant-turns.ts";
import type { HandlerContext, Settlement, WorkerOptions } from "#core/queue/jetstream/worker.ts";
import { tenantIn } from "#core/queue/subjects.ts";
import { tenantTurns } from "./turns.ts";

/** A hint that has not had its turn by then goes back: another process may have a place. */
const mostWaitMs = 2_000;
const soonMs = 250;

export type TenantsPlacesDeps<T> = {
  /** Hints of one tenant that are handled at the same time; as many of others have places beside them. */
  most: number;
  handle: (data: T, context: HandlerContext) => Promise<Settlement>;
  stopping: AbortSignal;
};

/**
 * Lets tenants share the places of a worker (docs/decisions/0228). A tenant's next hints wait here for its places, so that
 * none of these is empty until they have come; what it has beyond that goes back to JetStream for a while.
 */
export const tenantsPlaces = <T>({
  most,
  handle,
  stopping,
}: TenantsPlacesDeps<T>): Pick<WorkerOptions<T>, "concurrency" | "turns" | "handle"> => {
  const inHand = 4 * most; // half of them handled, the others next
  const inTurn = tenantTurns({ places: 2 * most, waiting: 2 * most });
  return {
    concurrency: inHand,
    turns: turnsOfHints(tenantPlaces(inHand), tenantIn),
    handle: async (data, context) => {
      const late = AbortSignal.any([context.signal, stopping, AbortSignal.timeout(mostWaitMs)]);
      const settled = await inTurn(tenantIn(context.subject), () => handle(data, context), late);
      return settled === "later" ? { kind: "retry", delayMs: soonMs, reason: "its tenant has no place" } : settled;
    },
  };
};
