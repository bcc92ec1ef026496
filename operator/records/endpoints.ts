import { Unavailable } from "#core/errors.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { subjects } from "#core/queue/subjects.ts";
import { webhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { Platform } from "./platform.ts";

/** Hints to the dispatchers that there is something to do for an endpoint. */
export type EndpointHints = {
  /** Has a dispatcher look at an endpoint: what waits for one that is gone is dropped. Best effort. */
  publish: (endpointId: string) => Promise<void>;
  /** Also makes the endpoint due, so that a dispatcher looks at it even when the hint is lost. */
  makeDue: (endpointId: string) => Promise<void>;
};

export const endpointHints = ({
  db,
  clock,
  jetstream: { nats, prefix },
}: Pick<Platform, "db" | "clock" | "jetstream">): EndpointHints => {
  const { publish: send } = publisher(nats);
  const { webhook } = subjects(prefix);
  const publish = async (endpointId: string): Promise<void> => {
    await send(webhook(endpointId), { endpoint_id: endpointId }).catch(ignoreUnavailable);
  };
  return {
    publish,
    makeDue: async (endpointId) => {
      await webhookWork(db).makeDue([endpointId], clock.now());
      await publish(endpointId);
    },
  };
};

/**
 * Without a hint the timer finds an endpoint that is due, and the work of an endpoint that is gone ends with its
 * history.
 */
const ignoreUnavailable = (error: unknown): void => {
  if (!(error instanceof Unavailable)) throw error;
};
