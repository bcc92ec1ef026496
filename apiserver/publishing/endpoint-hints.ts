import { Unavailable } from "#core/errors.ts";
import type { Publisher } from "#core/queue/jetstream/publish.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import type { Log } from "#core/runtime/process/log.ts";

export type EndpointHintsDeps = {
  publisher: Pick<Publisher, "publish">;
  subjects: Pick<Subjects, "webhook">;
  log: Log;
};

/** Publishes a hint that an endpoint has work, while the reply goes out: should it be lost, the endpoint's `due_at` counts. */
export const endpointHints =
  ({ publisher, subjects, log }: EndpointHintsDeps) =>
  (endpointId: string): void => {
    const publishing = publisher.publish(subjects.webhook(endpointId), { endpoint_id: endpointId });
    publishing.catch((err: unknown) => {
      const event = err instanceof Unavailable ? "jetstream.away" : "webhook_hint.failed";
      log.warn({ err, endpoint: endpointId }, event);
    });
  };
