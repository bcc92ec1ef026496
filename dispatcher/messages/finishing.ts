import type { DispatcherMetrics } from "#core/runtime/metrics/dispatcher.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { traceFacts } from "#core/runtime/tracing/traceparent.ts";
import { type Finish, type FinishDeps, finish } from "./finish.ts";

export type FinishingDeps = FinishDeps & { metrics: Pick<DispatcherMetrics, "messagesEnded">; log: Log };

/** {@link finish}, with what operators see of it. */
export const finishing = (deps: FinishingDeps): Finish =>
  finish({
    ...deps,
    messages: {
      reservedOf: deps.messages.reservedOf,
      finish: async (message, end) => {
        const isOurs = await deps.messages.finish(message, end);
        if (!isOurs) return false;
        deps.metrics.messagesEnded.inc({ status: end.status });
        deps.log.info(endOf(message, end), "message.ended");
        return true;
      },
    },
  });

type Ended = Parameters<FinishDeps["messages"]["finish"]>;

const endOf = (message: Ended[0], { status, error, counts, at }: Ended[1]) => ({
  tenant: message.tenant_id,
  app: message.app_id,
  message: message._id,
  ...traceFacts(message.traceparent),
  status,
  error,
  counts,
  durationMs: at.getTime() - (message.started_at ?? message.created_at).getTime(),
});
