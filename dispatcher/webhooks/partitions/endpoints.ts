import type { Db } from "mongodb";
import type { Partitioning } from "#core/domain/webhooks/partitions.ts";
import { shareOf } from "#core/domain/webhooks/shares.ts";
import type { Announcer } from "#core/queue/announce.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { type WebhookRow, webhookCollection, webhookWork } from "#core/storage/webhooks/webhooks.ts";

export type EndpointsDeps = {
  db: Db;
  partitioning: Pick<Partitioning, "count" | "ofEndpoint">;
  nats: Pick<Nats, "nc">;
  subjects: Pick<Subjects, "webhookNotices" | "formerWebhookNotices">;
  announcer: Announcer;
};

/** An endpoint, and the partition whose owner serves it. */
export type EndpointKey = { id: string; partition: number };

export type Endpoints = ReturnType<typeof endpointWork>;

/** Endpoints in the store, and what processes say of them to each other. */
export const endpointWork = ({ db, partitioning, nats: { nc }, subjects, announcer }: EndpointsDeps) => {
  const keyOf = (row: Pick<WebhookRow, "_id" | "app_id" | "partition">): EndpointKey => ({
    id: row._id,
    partition: partitioning.ofEndpoint(row),
  });
  const walkerOf = (share: number): number => share % partitioning.count;
  const work = webhookWork(db);
  return {
    ...work,
    keyOf,
    /** The owner of this partition walks over a share, and does what is to be done for endpoints that are gone. */
    walkerOf,
    /** Whose an endpoint is that only its id is known of. */
    keyOfId: async (id: string): Promise<EndpointKey> => {
      const row = await work.find(id);
      return row === null ? { id, partition: walkerOf(shareOf(id)) } : keyOf(row);
    },
    /**
     * Notifies whoever owns an endpoint, over core NATS, that deliveries were stored for it. A notice that is lost costs a
     * minute: by then the owner has looked by itself.
     */
    notify: ({ id, partition }: EndpointKey): void => {
      if (nc.isClosed()) return;
      nc.publish(subjects.webhookNotices(partition), id);
      nc.publish(subjects.formerWebhookNotices(), id);
    },
    /** Calls the listener for each such notice. The answer ends that. */
    onNotice: (listener: (key: EndpointKey) => void): Promise<() => void> =>
      listen(nc, subjects.webhookNotices("*"), (id, subject) =>
        listener({ id, partition: Number(subject.split(".").at(-1)) }),
      ),
    /** Announces to every process that an endpoint changed. */
    announce: ({ _id, app_id: appId }: Pick<WebhookRow, "_id" | "app_id">): void =>
      announcer.changed(webhookCollection.name, _id, appId),
  };
};

/** Notices that the table of partitions has changed. */
export const tableNotices = ({
  nats: { nc },
  subjects,
}: {
  nats: Pick<Nats, "nc">;
  subjects: Pick<Subjects, "webhookPartitions">;
}) => ({
  publish: (): void => {
    if (!nc.isClosed()) nc.publish(subjects.webhookPartitions());
  },
  on: (listener: () => void): Promise<() => void> => listen(nc, subjects.webhookPartitions(), listener),
});

const listen = async (
  nc: Nats["nc"],
  subject: string,
  listener: (text: string, subject: string) => void,
): Promise<() => void> => {
  const subscription = nc.subscribe(subject, {
    callback: (error, message) => {
      if (error === null) listener(message.string(), message.subject);
    },
  });
  await nc.flush();
  return () => subscription.unsubscribe();
};
