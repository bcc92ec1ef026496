import type { OperatorMetrics } from "#core/runtime/metrics/operator.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { SealedCount } from "#core/storage/keys/reseal.ts";
import { pause } from "../kube/watch.ts";

export type TendDeps = {
  /** Seals everything anew that is due, and counts what each key seals. */
  reseal: (signal: AbortSignal) => Promise<SealedCount[]>;
  /** The names of the key ring's keys, the one that seals first. */
  kids: readonly string[];
  /** Keeps what was counted, for programs that start and for people who ask. */
  keep: (counts: readonly SealedCount[]) => Promise<void>;
  everyMs: number;
  soonestMs: number;
  metrics: Pick<OperatorMetrics, "sealed">;
  log: Log;
};

/** Tends what is sealed until `stop` aborts. Never rejects. */
export type TendKeys = (stop: AbortSignal) => Promise<void>;

/**
 * Reseals at once, as a rotation begins with a restart, then each `everyMs`. While another key of the ring seals
 * something it reseals sooner, after `soonestMs` and twice as long each time: pods of before a rollout seal with the key they
 * have until they end. The metric is gone when it ends.
 */
export const tendKeys =
  ({ reseal, kids, keep, everyMs, soonestMs, metrics, log }: TendDeps): TendKeys =>
  async (stop) => {
    let soonMs = soonestMs;
    while (!stop.aborted) {
      let isLeft = false;
      try {
        const counts = await reseal(stop);
        show(metrics, kids, counts);
        await keep(counts);
        isLeft = counts.some(({ kid }) => kids.indexOf(kid) > 0);
      } catch (err) {
        if (!stop.aborted) log.warn({ err }, "keys.not_resealed");
      }
      await pause(isLeft ? Math.min(soonMs, everyMs) : everyMs, stop);
      soonMs = isLeft ? Math.min(soonMs * 2, everyMs) : soonestMs;
    }
    metrics.sealed.reset();
  };

/** A key that seals nothing any more has 0: then it can go. */
const show = (metrics: TendDeps["metrics"], kids: readonly string[], counts: readonly SealedCount[]): void => {
  const total = (kid: string): number =>
    counts.filter((count) => count.kid === kid).reduce((sum, { secrets }) => sum + secrets, 0);
  metrics.sealed.reset();
  for (const kid of new Set([...kids, ...counts.map((count) => count.kid)])) {
    metrics.sealed.set({ kid, known: String(kids.includes(kid)) }, total(kid));
  }
};
