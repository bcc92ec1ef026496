import { falseWhenAway } from "#core/errors.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { subjects } from "#core/queue/subjects.ts";
import { webhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { Platform } from "./platform.ts";

export type EndpointHints = ReturnType<typeof endpointHints>;

/** Hints to the dispatchers that there is something to do for an endpoint. */
export const endpointHints = ({
  db,
  clock,
  jetstream: { nats, prefix },
}: Pick<Platform, "db" | "clock" | "jetstream">) => {
  const { publish: send } = publisher(nats);
  const { webhook } = subjects(prefix);
  /** Has a dispatcher look at an endpoint: what waits for one that is gone is dropped. Best effort. */
  const publish = async (endpointId: string): Promise<void> => {
    await send(webhook(endpointId), { endpoint_id: endpointId }).catch(falseWhenAway); // the timer finds one that is due
  };
  return {
    publish,
    /** Also makes the endpoint due, so that a dispatcher looks at it even when the hint is lost. */
    makeDue: async (endpointId: string): Promise<void> => {
      await webhookWork(db).makeDue([endpointId], clock.now());
      await publish(endpointId);
    },
  };
};
