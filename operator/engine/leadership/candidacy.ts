import { isConflict, KubeError } from "#core/runtime/kube/errors.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { jittered, pause } from "../../kube/watch.ts";
import type { Lease, LeaseApi, LeaseDeps } from "./lease.ts";

export type LeaderDeps = LeaseDeps & {
  /** The highest epoch of any document. A new term's is above it, also when the Lease was deleted. */
  highestEpoch: () => Promise<number>;
  log: Log;
  /** Called with whether this process leads, and who does as far as is known. */
  onChange: (state: { isLeader: boolean; holder: string }) => void;
};

/** The Lease that this process has taken. `renewedAt`: when the last renewal was sent, by `performance.now()`. */
export type TakenLease = { lease: Lease; epoch: number; renewedAt: number };

/** Waits until the Lease may be taken, and takes it; null when `signal` aborts first. */
export type Candidacy = (signal: AbortSignal) => Promise<TakenLease | null>;

/** Waits for its turn with one watch of the Lease, and with no other request while the holder renews it. */
export const candidacy = (deps: LeaderDeps, api: LeaseApi): Candidacy => {
  const { client, timing, highestEpoch, log, onChange } = deps;
  const ends = expiry(deps);

  const take = async (lease: Lease | null, signal: AbortSignal): Promise<TakenLease> => {
    const epoch = Math.max(lease?.spec?.leaseTransitions ?? 0, await highestEpoch()) + 1;
    const renewedAt = performance.now();
    return { lease: await api.take(lease, epoch, signal), epoch, renewedAt };
  };

  /** Resolves when the Lease may be free: given back, deleted, or not renewed for its whole duration. */
  const freed = async (lease: Lease, from: string, signal: AbortSignal): Promise<void> => {
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), ends.inMs(lease));
    try {
      for await (const { type, object } of api.changes(from, AbortSignal.any([signal, over.signal]))) {
        if (type === "BOOKMARK") continue; // says nothing of the holder
        if (type === "DELETED" || ends.inMs(object) === 0) return;
        timer.refresh();
      }
      await pause(timing.retryMs, signal); // the server closed the watch
    } catch (error) {
      if (!over.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
    }
  };

  const attempt = async (signal: AbortSignal): Promise<TakenLease | null> => {
    const { lease, version } = await api.read(signal);
    if (lease === null || ends.inMs(lease) === 0) return take(lease, signal);
    onChange({ isLeader: false, holder: lease.spec?.holderIdentity ?? "" });
    await freed(lease, version, signal);
    return null;
  };

  const failed = async (error: unknown, signal: AbortSignal): Promise<null> => {
    if (signal.aborted || isConflict(error)) return null; // another was quicker
    if (error instanceof KubeError && error.status === 0) client.doubt("idle");
    log.warn({ error: String(error) }, "lease.not_taken");
    await pause(jittered(timing.retryMs, 1 / 5), signal);
    return null;
  };

  return async (signal) => {
    while (!signal.aborted) {
      const own = await attempt(signal).catch((error: unknown) => failed(error, signal));
      if (own !== null) return own;
    }
    return null;
  };
};

/**
 * Another's Lease counts as expired when we have seen no change of it for its whole duration, by our own
 * `performance.now()`. The times in the Lease are of the holder's clock, which may be wrong.
 */
const expiry = ({ holder, timing }: LeaderDeps) => {
  let seen = { version: "", at: 0 };
  return {
    /** 0: it may be taken. */
    inMs: ({ metadata, spec = {} }: Lease): number => {
      const { holderIdentity = "", leaseDurationSeconds = timing.leaseMs / 1000 } = spec;
      if (holderIdentity === "" || holderIdentity === holder) return 0;
      if (seen.version !== metadata.resourceVersion)
        seen = { version: metadata.resourceVersion, at: performance.now() };
      return Math.max(0, seen.at + leaseDurationSeconds * 1000 - performance.now());
    },
  };
};
