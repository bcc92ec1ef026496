import type { Db } from "mongodb";
import { type DeliveryRow, deliveryCollection } from "../messages/deliveries.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { type ConversationRow, conversationCollection } from "./conversation-row.ts";
import { inboundMailIds } from "./inbound-id.ts";
import { type ConversationMessageRow, conversationMessageCollection } from "./message-row.ts";

export type Threads = ReturnType<typeof threads>;

/** What a mail answers: mails of people by their Message-IDs, and ours by the ids of their deliveries. */
export type Answering = { address: string; mailIds: readonly string[]; deliveryIds: readonly string[] };

const most = 100; // of each that are looked at

/** `key`: of the conversation with the address in which one of them is. `deliveryIds`: those of ours that there are. */
export type Thread = { key: string | null; deliveryIds: ReadonlySet<string> };

/** In which thread of mails a mail is. */
export const threads = (db: Db) => {
  const messages = collectionOf<ConversationMessageRow>(db, conversationMessageCollection);
  const deliveries = collectionOf<DeliveryRow>(db, deliveryCollection);
  const conversations = collectionOf<ConversationRow>(db, conversationCollection);
  return {
    find: async ({ tenantId, appId }: OfApp, { address, mailIds, deliveryIds }: Answering): Promise<Thread> => {
      const of = { app_id: appId, tenant_id: tenantId };
      const [known, sent] = await Promise.all([
        mailIds.length === 0
          ? []
          : messages
              .find(
                { _id: { $in: mailIds.slice(0, most).flatMap((id) => inboundMailIds(appId, id)) }, ...of },
                { projection: { conversation_id: 1 }, limit: most },
              )
              .toArray(),
        deliveryIds.length === 0
          ? []
          : deliveries
              .find({ _id: { $in: deliveryIds.slice(0, most) }, ...of }, { projection: { conversation_id: 1 } })
              .toArray(),
      ]);
      const ids = new Set([...known, ...sent].flatMap(({ conversation_id: id }) => id ?? []));
      const ours = new Set(sent.map(({ _id }) => _id));
      if (ids.size === 0) return { key: null, deliveryIds: ours };
      const found = await conversations
        .find({ _id: { $in: [...ids] }, ...of, channel: "email", contact_address: address }, { projection: thread })
        .toArray();
      const [latest] = found.toSorted((a, b) => b.updated_at.getTime() - a.updated_at.getTime());
      return { key: latest?.thread_key ?? null, deliveryIds: ours };
    },
  };
};

const thread = { thread_key: 1, updated_at: 1 };
