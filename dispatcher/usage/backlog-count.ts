import type { Clock } from "#core/domain/clock.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { passes } from "#core/runtime/process/passes.ts";
import type { WebhookBacklogs } from "#core/storage/usage/backlogs.ts";

export type BacklogCountDeps = {
  backlogs: Pick<WebhookBacklogs, "count" | "keep">;
  /** Whether this process is the one that counts now. */
  isOurs: () => boolean;
  clock: Clock;
  log: Log;
};

const everyMs = 30_000;
const notOursMs = 2_000; // then it is looked again; it costs nothing

/** Counts every half minute, in one process, what waits to be sent to each tenant's endpoints. */
export const backlogCount = ({ backlogs, isOurs, clock, log }: BacklogCountDeps): Part =>
  passes({
    name: "webhook backlogs",
    everyMs,
    failedMs: notOursMs,
    pass: async (stop) => {
      if (!isOurs()) return false;
      const at = clock.now();
      const counts = await backlogs.count(stop);
      if (!stop.aborted) await backlogs.keep(counts, at);
      return true;
    },
    onError: (err) => log.warn({ err }, "webhook_backlogs.not_counted"),
  });
