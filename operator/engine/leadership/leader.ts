import { randomUUID } from "node:crypto";
import { isConflict, isNotFound, KubeError } from "#core/runtime/kube/errors.ts";
import { pause } from "../../kube/watch.ts";
import { candidacy, type LeaderDeps, type TakenLease } from "./candidacy.ts";
import { type Lease, type LeaseApi, leaseApi } from "./lease.ts";

/** A name for this process that no other has. */
export const holderName = (host: string): string => `${host}_${randomUUID()}`;

/** The time for which a process has the Lease. */
export type Term = {
  /** Higher than that of every term before. */
  epoch: number;
  /** Aborts when no more work may be begun; what is under way is finished. */
  stop: AbortSignal;
  /** Aborts when nothing more may be written, from that moment on. */
  lost: AbortSignal;
  /** Whether another may lead by now. It reads the clock: after a pause of the process no timer has fired yet. */
  isOver: () => boolean;
};

/**
 * Runs `lead` whenever this process has the Lease and campaigns again afterwards. When `signal` aborts, `lead` may
 * finish while the Lease is still renewed; then the Lease is given back.
 */
export const campaign = async (
  deps: LeaderDeps,
  lead: (term: Term) => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const api = leaseApi(deps);
  const next = candidacy(deps, api);
  for (let own = await next(signal); own !== null; own = await next(signal)) {
    await reign({ ...deps, api }, own, lead, signal);
  }
};

type ReignDeps = LeaderDeps & { api: LeaseApi };

const reign = async (
  deps: ReignDeps,
  own: TakenLease,
  lead: (term: Term) => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const { log, holder, timing, onChange } = deps;
  const { epoch } = own;
  const lost = new AbortController();
  const done = new AbortController();
  const isOver = (): boolean => lost.signal.aborted || performance.now() >= own.renewedAt + timing.renewMs;
  log.info({ holder, epoch }, "leadership.taken");
  onChange({ isLeader: true, holder });
  const led = lead({ epoch, stop: AbortSignal.any([signal, lost.signal]), lost: lost.signal, isOver });
  const ended = led.finally(() => done.abort());
  const grace = afterAbort(signal, timing.renewMs / 2, () => lost.abort(new Error("the grace is over")));
  const isKept = await keep(deps, own, done.signal);
  if (!isKept) lost.abort(new Error("leadership lost"));
  await ended;
  lost.abort(new Error("the term is over"));
  grace.cancel();
  onChange({ isLeader: false, holder: "" });
  log.info({ holder, epoch, isStopping: signal.aborted }, "leadership.ended");
  if (isKept) await release(deps, own);
};

/** Renews the Lease until `done`; false as soon as it could not be renewed in time, or another has it. */
const keep = async (deps: ReignDeps, own: TakenLease, done: AbortSignal): Promise<boolean> => {
  const { renewMs, everyMs, retryMs } = deps.timing;
  let waitMs: number = everyMs;
  for (;;) {
    await pause(waitMs, done);
    const startedAt = performance.now();
    const leftMs = own.renewedAt + renewMs - startedAt;
    if (leftMs <= 0) return false;
    if (done.aborted) return true;
    const renewal = await renewed(deps, own.lease, AbortSignal.timeout(Math.ceil(leftMs / 2))); // time for a second try
    if (renewal === "lost") return false;
    const tookMs = performance.now() - startedAt;
    if (renewal !== null) Object.assign(own, { lease: renewal, renewedAt: startedAt });
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

/** Renews a Lease that somebody wrote meanwhile: this process, whose answer was lost, or a person who annotated it. */
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

/** Gives the Lease back within 2 s, so that another need not wait for its end. */
const release = async ({ api, log }: ReignDeps, { lease }: TakenLease): Promise<void> => {
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
