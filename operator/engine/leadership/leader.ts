import { randomUUID } from "node:crypto";
import { isConflict, isNotFound, KubeError } from "../../kube/errors.ts";
import { pause } from "../../kube/watch.ts";
import { candidacy, type HeldLease, type LeaderDeps } from "./candidacy.ts";
import { type Lease, type LeaseApi, leaseApi } from "./lease.ts";

/** A name for this process that no other has. */
export const holderName = (host: string): string => `${host}_${randomUUID()}`;

/** The time for which a process holds the Lease. */
export type Term = {
  /** Higher than that of every term before. */
  epoch: number;
  /** Take no more work and finish what is in hand. */
  stop: AbortSignal;
  /** Write nothing more, at once. */
  lost: AbortSignal;
  /** Whether another may lead by now. Asks the clock, and so is right also before any timer could fire. */
  isOver: () => boolean;
};

/**
 * Runs `lead` whenever this process holds the Lease and campaigns again afterwards. When `signal` aborts, `lead` may
 * finish while the Lease is still renewed; then the Lease is given back.
 */
export const campaign = async (
  deps: LeaderDeps,
  lead: (term: Term) => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const api = leaseApi(deps);
  const taken = candidacy(deps, api);
  for (let held = await taken(signal); held !== null; held = await taken(signal)) {
    await reign({ ...deps, api }, held, lead, signal);
  }
};

type ReignDeps = LeaderDeps & { api: LeaseApi };

const reign = async (
  deps: ReignDeps,
  held: HeldLease,
  lead: (term: Term) => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const { log, holder, timing, onChange } = deps;
  const { epoch } = held;
  const lost = new AbortController();
  const done = new AbortController();
  const isOver = (): boolean => lost.signal.aborted || performance.now() >= held.renewedAt + timing.renewMs;
  log.info({ holder, epoch }, "leadership.taken");
  onChange({ isLeader: true, holder });
  const led = lead({ epoch, stop: AbortSignal.any([signal, lost.signal]), lost: lost.signal, isOver });
  const ended = led.finally(() => done.abort());
  const grace = afterAbort(signal, timing.renewMs / 2, () => lost.abort(new Error("the grace is over")));
  const isKept = await keep(deps, held, done.signal);
  if (!isKept) lost.abort(new Error("leadership lost"));
  await ended;
  lost.abort(new Error("the term is over"));
  grace.cancel();
  onChange({ isLeader: false, holder: "" });
  log.info({ holder, epoch, isStopping: signal.aborted }, "leadership.ended");
  if (isKept) await release(deps, held);
};

/** Renews the Lease until `done`; false as soon as it could not be renewed in time, or another has it. */
const keep = async (deps: ReignDeps, held: HeldLease, done: AbortSignal): Promise<boolean> => {
  const { renewMs, everyMs, retryMs } = deps.timing;
  let waitMs: number = everyMs;
  for (;;) {
    await pause(waitMs, done);
    const startedAt = performance.now();
    const leftMs = held.renewedAt + renewMs - startedAt;
    if (leftMs <= 0) return false;
    if (done.aborted) return true;
    const renewal = await renewed(deps, held.lease, AbortSignal.timeout(Math.ceil(leftMs / 2))); // time for a second try
    if (renewal === "lost") return false;
    const tookMs = performance.now() - startedAt;
    if (renewal !== null) Object.assign(held, { lease: renewal, renewedAt: startedAt });
    waitMs = Math.max(0, (renewal === null ? Math.min(retryMs, leftMs) : everyMs) - tookMs);
  }
};

/** One PUT; null when it failed and may be tried again. */
const renewed = async (
  { api, client, log }: ReignDeps,
  lease: Lease,
  signal: AbortSignal,
): Promise<Lease | "lost" | null> => {
  try {
    return await api.renew(lease, signal).catch((error: unknown) => renewedAnew(api, lease, error, signal));
  } catch (error) {
    if (!(error instanceof KubeError) || error.status === 0) client.doubt("watches too");
    log.warn({ error: String(error) }, "lease.unreachable");
    return null;
  }
};

/** Somebody wrote the Lease: perhaps we ourselves, when an answer was lost; perhaps a person, who annotated it. */
const renewedAnew = async (
  api: LeaseApi,
  { spec }: Lease,
  error: unknown,
  signal: AbortSignal,
): Promise<Lease | "lost"> => {
  if (!isConflict(error) && !isNotFound(error)) throw error;
  const { lease } = await api.read(signal);
  const isOurs = lease?.spec?.holderIdentity === spec?.holderIdentity;
  const isSameTerm = lease?.spec?.leaseTransitions === spec?.leaseTransitions;
  return lease !== null && isOurs && isSameTerm ? api.renew(lease, signal) : "lost";
};

/** Gives the Lease back, so that another need not wait for its end; within 2 s, or not at all. */
const release = async ({ api, log }: ReignDeps, { lease }: HeldLease): Promise<void> => {
  await api.release(lease, AbortSignal.timeout(2_000)).catch((error: unknown) => {
    log.warn({ error: String(error) }, "lease.kept"); // it ends by itself
  });
};

/** Calls `then` some time after `signal` has aborted, unless it is cancelled. */
const afterAbort = (signal: AbortSignal, delayMs: number, then: () => void): { cancel: () => void } => {
  let timer: NodeJS.Timeout | undefined;
  const start = (): void => {
    timer = setTimeout(then, delayMs);
  };
  if (signal.aborted) start();
  else signal.addEventListener("abort", start, { once: true });
  return {
    cancel: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", start);
    },
  };
};
