import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { Announcer } from "#core/queue/announce.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import type { Publisher } from "#core/queue/jetstream/publish.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { type WebhookRow, webhookCollection, webhookWork } from "#core/storage/webhooks/webhooks.ts";
import { sweepAfter } from "#core/storage/work/due.ts";

export type EndpointsDeps = {
  db: Db;
  nats: Pick<Nats, "nc">;
  publisher: Pick<Publisher, "publish">;
  subjects: Pick<Subjects, "webhook" | "newDeliveries">;
  announcer: Announcer;
  clock: Clock;
};

export type Endpoints = ReturnType<typeof endpointWork>;

/** Endpoints in the store, and how other processes are notified about them. */
export const endpointWork = ({ db, nats: { nc }, publisher, subjects, announcer, clock }: EndpointsDeps) => {
  const work = webhookWork(db);
  const publishHint = (id: string): Promise<unknown> => publisher.publish(subjects.webhook(id), { endpoint_id: id });
  return {
    ...work,
    publishHint,
    /** Has a dispatcher look at an endpoint: as soon as the hint arrives, or after the sweep interval when it is lost. */
    makeDueAndHint: async (id: string): Promise<void> => {
      await work.makeDue([id], sweepAfter(clock.now()));
      await publishHint(id);
    },
    /**
     * Notifies whichever process holds an endpoint's lease, over core NATS, of new deliveries. A notice that is lost costs
     * time and no delivery: a holder looks into the store before it gives the lease back.
     */
    notifyHolder: (id: string): void => {
      if (!nc.isClosed()) nc.publish(subjects.newDeliveries(), id);
    },
    /** Calls the listener for each such notice, whichever process holds the lease. The answer ends that. */
    onNotice: async (listener: (endpointId: string) => void): Promise<() => void> => {
      const subscription = nc.subscribe(subjects.newDeliveries(), {
        callback: (error, message) => {
          if (error === null) listener(message.string());
        },
      });
      await nc.flush();
      return () => subscription.unsubscribe();
    },
    /** Announces to every process that an endpoint changed. */
    announce: ({ _id, app_id: appId }: Pick<WebhookRow, "_id" | "app_id">): void =>
      announcer.changed(webhookCollection.name, _id, appId),
  };
};
