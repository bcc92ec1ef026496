import type { Clock } from "#core/domain/clock.ts";
import type { Timing } from "#core/domain/timing.ts";
import type { DueWork } from "#core/storage/work/due.ts";
import { type Lease, underLease } from "../work/lease.ts";
import type { Suspensions } from "../work/suspensions.ts";

export type WhileDeps = {
  suspensions: Pick<Suspensions, "during">;
  stopping: AbortSignal;
  timing: Pick<Timing, "leaseMs">;
  clock: Clock;
};

type Leased = { taken: Pick<DueWork, "lease"> & { tenant_id: string }; extend: (now: Date) => Promise<boolean> };

/** Works on a document under its lease, which is over when the program stops or its tenant is suspended. */
export const whileAllowed = <T>(
  { suspensions, stopping, timing, clock }: WhileDeps,
  { taken, extend }: Leased,
  work: (lease: Lease) => Promise<T>,
): Promise<T> =>
  suspensions.during(taken.tenant_id, (suspended) =>
    underLease({ taken, extend, stops: [stopping, suspended], clock, termMs: timing.leaseMs }, work),
  );
