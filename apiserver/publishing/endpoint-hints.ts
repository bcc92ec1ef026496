import { Unavailable } from "#core/errors.ts";
import type { Publisher } from "#core/queue/jetstream/publish.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import type { Log } from "#core/runtime/process/log.ts";

export type DoorbellDeps = { publisher: Pick<Publisher, "publish">; subjects: Pick<Subjects, "webhook">; log: Log };

/** Rings an endpoint's doorbell without holding up the reply: should JetStream be away, its `due_at` has it looked at. */
export const doorbell =
  ({ publisher, subjects, log }: DoorbellDeps) =>
  (endpointId: string): void => {
    const ringing = publisher.publish(subjects.webhook(endpointId), { endpoint_id: endpointId });
    ringing.catch((err: unknown) => {
      const event = err instanceof Unavailable ? "jetstream.away" : "doorbell.failed";
      log.warn({ err, endpoint: endpointId }, event);
    });
  };
