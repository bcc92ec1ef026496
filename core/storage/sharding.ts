import { auditCollection } from "./audit/audit-log.ts";
import { conversationCollection } from "./conversations/conversation-row.ts";
import { conversationMessageCollection } from "./conversations/message-row.ts";
import { noteCollection } from "./conversations/notes.ts";
import { eventBatchCollection } from "./events/batches.ts";
import { conversionCollection } from "./events/conversions.ts";
import { dayUserCollection } from "./events/day-users.ts";
import { eventCollection } from "./events/events.ts";
import { inAppEventCollection } from "./in-app-messages/events.ts";
import { inboxCollection } from "./inbox/inboxes.ts";
import { inboxItemCollection } from "./inbox/items.ts";
import { linkCollection } from "./links/links.ts";
import { activityRecipientCollection } from "./live-activities/recipient-row.ts";
import { startTokenCollection } from "./live-activities/start-tokens.ts";
import { capTakeCollection } from "./messages/cap-takes.ts";
import { choiceCollection } from "./messages/choices.ts";
import { chunkCollection } from "./messages/chunks.ts";
import { deliveryCollection } from "./messages/deliveries.ts";
import { messageCollection } from "./messages/messages.ts";
import type { CollectionSpec } from "./mongo/collection.ts";
import { sessionMonthCollection } from "./people/session-months.ts";
import { subscriptionCollection } from "./people/subscription-row.ts";
import { userCollection } from "./people/users.ts";
import { replyCollection } from "./service/replies.ts";
import { suppressionCollection } from "./suppressions/suppressions.ts";
import { verdictCollection } from "./suppressions/verdicts.ts";
import { deletionCollection } from "./warehouse/deletions.ts";
import { webhookDeliveryCollection } from "./webhooks/deliveries.ts";

/**
 * How a large collection would be spread over the shards of a MongoDB. `hashed`: by the hash of one member, so that writes
 * are even. `app_id`: by the app, as the collection has a unique index, and MongoDB keeps one only when it begins with the
 * shard key; all of an app is on one shard.
 */
export type Sharding = {
  collection: CollectionSpec;
  key: { hashed: "_id" | "conversation_id" } | "app_id";
  /** Queries without the key, which all shards are asked: by the member that they have instead. The first that a query has counts. */
  scattered: readonly Scattered[];
};

export type Scattered = { by: string; because: string };

const byId: Scattered = {
  by: "_id",
  because: "reads and changes of documents whose ids are known, in batches where they are many",
};
const whatIsDue: Scattered = { by: "due_at", because: "what is due in all apps, looked for every few seconds" };
const removal: Scattered = { by: "app_id", because: "the removal of an app, page by page" };
const ofApp = (what: string): Scattered => ({ by: "app_id", because: `${what}; the removal of an app, page by page` });

const hashed = (collection: CollectionSpec, ...scattered: Scattered[]): Sharding => ({
  collection,
  key: { hashed: "_id" },
  scattered,
});

const byApp = (collection: CollectionSpec, ...scattered: Scattered[]): Sharding => ({
  collection,
  key: "app_id",
  scattered,
});

/** Every collection that grows with people, recipients, requests or events. */
export const shardings: readonly Sharding[] = [
  byApp(userCollection, byId, whatIsDue),
  byApp(subscriptionCollection, byId, whatIsDue),
  byApp(suppressionCollection, byId),
  byApp(
    messageCollection,
    { by: "live_activity.activity", because: "the messages of one live activity" },
    { by: "plan", because: "messages that are kept no longer, and whether a plan still has some: once in a while" },
    byId,
    whatIsDue,
  ),
  byApp(conversationCollection, byId, whatIsDue),
  byApp(conversionCollection),
  hashed(
    deliveryCollection,
    {
      by: "user_id",
      because: "what people were sent in the days before an event or a conversion, for many people at once",
    },
    { by: "collapse_key", because: "whether a collapse id was sent to since, for a chunk of recipients at once" },
    { by: "message_id", because: "a message's list, report and recount, page by page" },
    ofApp("exports, and counts of a quarter of an hour"),
  ),
  hashed(
    chunkCollection,
    { by: "collapse_keys", because: "whether a retry has a collapse id, for a chunk of recipients at once" },
    { by: "message_id", because: "turns of a message, each of which sends hundreds" },
    whatIsDue,
  ),
  hashed(choiceCollection, { by: "message_id", because: "who won, once for each message" }),
  hashed(capTakeCollection, { by: "_id", because: "all of them, once a day, and the removal of an app, page by page" }),
  hashed(eventCollection, ofApp("lists, counts, exports, and the events of some people")),
  hashed(dayUserCollection),
  hashed(eventBatchCollection, whatIsDue),
  hashed(sessionMonthCollection, ofApp("reports, and the sessions of some people")),
  hashed(inboxCollection, removal),
  hashed(inboxItemCollection, ofApp("the erasure of a person")),
  hashed(inAppEventCollection, ofApp("exports, and the events of some people")),
  {
    collection: conversationMessageCollection,
    key: { hashed: "conversation_id" },
    scattered: [byId, whatIsDue, ofApp("the search for words, exports, and what some people wrote")],
  },
  {
    collection: noteCollection,
    key: { hashed: "conversation_id" },
    scattered: [ofApp("the notes on some people")],
  },
  hashed(
    webhookDeliveryCollection,
    { by: "endpoint_id", because: "an endpoint's list, and what is tried again or replayed of it, page by page" },
    { by: "share", because: "what is due of a part of all endpoints, once a minute" },
    ofApp("the erasure of a person"),
  ),
  hashed(
    activityRecipientCollection,
    { by: "activity", because: "the devices of a live activity, page by page" },
    ofApp("a device's activities by its token or id"),
  ),
  hashed(startTokenCollection, ofApp("the devices that can start an activity, page by page")),
  hashed(deletionCollection, ofApp("exports")),
  hashed(linkCollection, removal),
  hashed(verdictCollection, removal),
  hashed(auditCollection, ofApp("an app's log"), { by: "tenant_id", because: "an organisation's log" }),
  hashed(replyCollection),
];
