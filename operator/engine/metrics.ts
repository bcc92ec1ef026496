import type { OperatorMetrics } from "#core/runtime/metrics/operator.ts";
import type { QueueHooks, WorkQueue } from "./work-queue.ts";

export type ControllerMetrics = ReturnType<typeof controllerMetrics>;

/** The measures of one kind's controller and queue. */
export const controllerMetrics = (metrics: OperatorMetrics, controller: string, workers: number) => {
  const queueLabels = { name: controller, controller };
  metrics.maxReconciles.set({ controller }, workers);
  beginAtZero(metrics, controller, queueLabels);
  return {
    queueHooks: (queue: () => WorkQueue): QueueHooks => ({
      onAdd: () => {
        metrics.queueAdds.inc(queueLabels);
        metrics.queueDepth.set(queueLabels, queue().size());
      },
      onRetry: () => metrics.queueRetries.inc(queueLabels),
      onStart: (waitedMs) => {
        metrics.queueSeconds.observe(queueLabels, waitedMs / 1000);
        metrics.queueDepth.set(queueLabels, queue().size());
        metrics.activeWorkers.inc({ controller });
      },
      onDone: (workedMs) => {
        metrics.workSeconds.observe(queueLabels, workedMs / 1000);
        metrics.activeWorkers.dec({ controller });
      },
    }),
    /** Counts a pass; `failure` is what it rejected with. */
    reconciled: ({ result, seconds, failure }: Pass): void => {
      metrics.reconciles.inc({ controller, result: results[result] });
      metrics.reconcileSeconds.observe({ controller }, seconds);
      if (result === "failed") metrics.reconcileErrors.inc({ controller });
      if (isPanic(failure)) metrics.reconcilePanics.inc({ controller });
    },
    refused: (): void => metrics.terminalErrors.inc({ controller }),
    repaired: (): void => metrics.driftRepairs.inc({ kind: controller }),
    restarted: (reason: "end" | "gone" | "error"): void => metrics.watchRestarts.inc({ kind: controller, reason }),
    /** Sets what only time changes; call it every few seconds. */
    tick: (queue: WorkQueue): void => {
      const ages = [...queue.running()].map((startedAt) => (Date.now() - startedAt) / 1000);
      metrics.queueDepth.set(queueLabels, queue.size());
      metrics.unfinishedSeconds.set(
        queueLabels,
        ages.reduce((sum, age) => sum + age, 0),
      );
      metrics.longestSeconds.set(queueLabels, Math.max(0, ...ages));
    },
  };
};

/**
 * Counters begin at zero, as in controller-runtime: otherwise Prometheus sees no increase when the first event is
 * counted.
 */
const beginAtZero = (metrics: OperatorMetrics, controller: string, queueLabels: QueueLabels): void => {
  for (const result of ["success", "error", "requeue", "requeue_after"])
    metrics.reconciles.inc({ controller, result }, 0);
  const { reconcileErrors, terminalErrors, reconcilePanics, activeWorkers } = metrics;
  for (const one of [reconcileErrors, terminalErrors, reconcilePanics, activeWorkers]) one.inc({ controller }, 0);
  const { queueDepth, queueAdds, queueRetries, unfinishedSeconds, longestSeconds } = metrics;
  for (const one of [queueDepth, queueAdds, queueRetries, unfinishedSeconds, longestSeconds]) one.inc(queueLabels, 0);
  metrics.driftRepairs.inc({ kind: controller }, 0);
  restartsAtZero(metrics, controller);
};

/** The same for watches of a kind. */
export const restartsAtZero = ({ watchRestarts }: Pick<OperatorMetrics, "watchRestarts">, kind: string): void => {
  for (const reason of ["end", "gone", "error"]) watchRestarts.inc({ kind, reason }, 0);
};

type Pass = { result: keyof typeof results; seconds: number; failure?: unknown };
type QueueLabels = { name: string; controller: string };

const results = { done: "success", again: "requeue_after", failed: "error" } as const;

/** Errors that JavaScript itself throws are faults of the program. */
const isPanic = (failure: unknown): boolean =>
  failure instanceof TypeError || failure instanceof RangeError || failure instanceof ReferenceError;
