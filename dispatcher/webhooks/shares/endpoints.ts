import type { Db } from "mongodb";
import type { Announcer } from "#core/queue/announce.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { type WebhookRow, webhookCollection, webhookWork } from "#core/storage/webhooks/webhooks.ts";

export type EndpointsDeps = {
  db: Db;
  nats: Pick<Nats, "nc">;
  subjects: Pick<Subjects, "webhookNotices">;
  announcer: Announcer;
};

export type Endpoints = ReturnType<typeof endpointWork>;

/** Endpoints in the store, and what processes say of them to each other. */
export const endpointWork = ({ db, nats: { nc }, subjects, announcer }: EndpointsDeps) => ({
  ...webhookWork(db),
  /**
   * Notifies whoever owns an endpoint, over core NATS, that deliveries were stored for it. A notice that is lost costs a
   * minute: by then the owner has looked by itself.
   */
  notify: (endpointId: string): void => {
    if (!nc.isClosed()) nc.publish(subjects.webhookNotices(), endpointId);
  },
  /** Calls the listener for each such notice. The answer ends that. */
  onNotice: (listener: (endpointId: string) => void): Promise<() => void> =>
    listen(nc, subjects.webhookNotices(), listener),
  /** Announces to every process that an endpoint changed. */
  announce: ({ _id, app_id: appId }: Pick<WebhookRow, "_id" | "app_id">): void =>
    announcer.changed(webhookCollection.name, _id, appId),
});

/** Notices that the table of shares has changed. */
export const tableNotices = ({
  nats: { nc },
  subjects,
}: {
  nats: Pick<Nats, "nc">;
  subjects: Pick<Subjects, "webhookShares">;
}) => ({
  publish: (): void => {
    if (!nc.isClosed()) nc.publish(subjects.webhookShares());
  },
  on: (listener: () => void): Promise<() => void> => listen(nc, subjects.webhookShares(), listener),
});

const listen = async (nc: Nats["nc"], subject: string, listener: (text: string) => void): Promise<() => void> => {
  const subscription = nc.subscribe(subject, {
    callback: (error, message) => {
      if (error === null) listener(message.string());
    },
  });
  await nc.flush();
  return () => subscription.unsubscribe();
};
