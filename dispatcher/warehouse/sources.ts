import type { Db, Document, Filter } from "mongodb";
import { maskAddress } from "#core/channels/addresses.ts";
import { defined } from "#core/domain/defined.ts";
import type { Cell } from "#core/domain/exports/csv.ts";
import { isContact } from "#core/schema/vocabulary/channels.ts";
import type { WarehouseDataset } from "#core/schema/warehouse/export.ts";
import { type ConversationRow, conversationCollection } from "#core/storage/conversations/conversation-row.ts";
import { type ConversationMessageRow, conversationMessageCollection } from "#core/storage/conversations/message-row.ts";
import { conversionCollection } from "#core/storage/events/conversions.ts";
import { eventDefinitionCollection } from "#core/storage/events/definitions.ts";
import { type EventRow, eventCollection } from "#core/storage/events/events.ts";
import { inAppEventCollection } from "#core/storage/in-app-messages/events.ts";
import { deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import type { CollectionSpec, OfApp } from "#core/storage/mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { type UserRow, userCollection } from "#core/storage/people/users.ts";
import { type SuppressionRow, suppressionCollection } from "#core/storage/suppressions/suppressions.ts";
import { inAppMembers } from "../exports/in-app-events.ts";
import { deliveryMembers } from "../exports/message-events.ts";
import {
  conversionMembers,
  conversionsOfDeliveries,
  eventsOfDeliveries,
  inAppEventsAsRows,
  withCampaigns,
} from "./joined.ts";
import type { InWindow, ReadDocument } from "./read-document.ts";

/** Makes a hash of an address that leads back to it with the app's key alone. */
export type HashOf = (address: string) => string;

/** What a dataset is read from. */
export type DatasetSource = {
  collection: CollectionSpec;
  /** Columns that are not the member of their name. */
  readers?: ReadonlyMap<string, Reader>;
  /** What is read, where columns do not say it. */
  members?: readonly string[];
  /** The member that has the instant by which rows fall into windows; default `updated_at`. */
  by?: string;
  /** Makes the rows of a page, with what stands in other collections. */
  join?: (db: Db, of: OfApp, window: InWindow) => (page: readonly ReadDocument[]) => Promise<ReadDocument[]>;
  /** Whatever has changed since the begin of the window is read, by id: `join` says what of it is in the window. */
  isById?: true;
  /** What of the collection is there, where not everything is. */
  there?: Filter<ReadDocument>;
  /** Other collections, whose rows come behind, one after another. */
  others?: readonly DatasetSource[];
};

/** What of a row stands in a column, and the members that say it. */
type Reader = { reads: readonly string[]; of: (row: Document, hash: HashOf) => Cell };

const reader = <Row extends Document>(
  reads: readonly (keyof Row & string)[],
  of: (row: Row, hash: HashOf) => Cell,
): Reader => ({
  reads,
  of: of as Reader["of"], // sound: rows of the collection beside it
});

type Addressed = { channel: SubscriptionRow["channel"] | null; address: string | null };

/** Of devices nobody gets the token. */
const contactOf = ({ channel, address }: Addressed): string | null =>
  channel !== null && isContact(channel) ? address : null;

/** The three columns of an address; in files one or two of them are left out. */
const addressReaders = <Row extends Document>(
  names: { masked: string; hash: string; plain: string },
  reads: readonly (keyof Row & string)[],
  of: (row: Row) => Addressed,
): [string, Reader][] => [
  [
    names.masked,
    reader<Row>(reads, (row) => {
      const { channel, address } = of(row);
      return channel === null || address === null ? null : maskAddress(channel, address);
    }),
  ],
  [
    names.hash,
    reader<Row>(reads, (row, hash) => {
      const address = contactOf(of(row));
      return address === null ? null : hash(address);
    }),
  ],
  [names.plain, reader<Row>(reads, (row) => contactOf(of(row)))],
];

const ofAddress = { hash: "address_hash", plain: "address" };
const ofContact = { masked: "contact_address_masked", hash: "contact_address_hash", plain: "contact_address" };

const contents = [
  "subject",
  "quoted_text",
  "button",
  "location",
  "contacts",
  "reaction",
  "order",
  "template",
  "interactive",
  "media",
] as const satisfies readonly (keyof ConversationMessageRow)[];

/** Of addresses see docs/reference/warehouse.md#columns. */
export const sources: Readonly<Record<WarehouseDataset, DatasetSource>> = {
  users: {
    collection: userCollection,
    readers: new Map([["session_count", reader<UserRow>(["session_count"], (row) => row.session_count ?? 0)]]),
  },
  subscriptions: {
    collection: subscriptionCollection,
    readers: new Map(
      addressReaders<SubscriptionRow>(
        { ...ofAddress, masked: "token_masked" },
        ["channel", "token"],
        ({ channel, token: address }) => ({ channel, address }),
      ),
    ),
  },
  events: {
    collection: eventCollection,
    readers: new Map([
      ["properties", reader<EventRow>(["properties"], (row) => JSON.parse(row.properties ?? "{}") as object)],
      ["received_at", reader<EventRow>(["stored_at"], (row) => row.stored_at)],
    ]),
    by: "stored_at",
  },
  messages: { collection: messageCollection },
  deliveries: { collection: deliveryCollection, join: withCampaigns },
  message_events: {
    collection: deliveryCollection,
    members: [...deliveryMembers, "received", "resend_until"],
    join: eventsOfDeliveries,
    isById: true,
    others: [
      { collection: conversionCollection, members: conversionMembers, by: "created_at", join: conversionsOfDeliveries },
      { collection: inAppEventCollection, members: inAppMembers, by: "at", join: inAppEventsAsRows },
    ],
  },
  suppressions: {
    collection: suppressionCollection,
    readers: new Map(
      addressReaders<SuppressionRow>(
        { ...ofAddress, masked: "address_masked" },
        ["channel", "address"],
        ({ channel, address }) => ({ channel, address }),
      ),
    ),
  },
  event_definitions: { collection: eventDefinitionCollection },
  conversations: {
    collection: conversationCollection,
    there: { gone: { $ne: true } },
    readers: new Map([
      ...addressReaders<ConversationRow>(
        ofContact,
        ["channel", "contact_address"],
        ({ channel, contact_address: address }) => ({ channel, address }),
      ),
      ["assignee_type", reader<ConversationRow>(["assignee"], ({ assignee }) => assignee?.type)],
      ["assignee_id", reader<ConversationRow>(["assignee"], ({ assignee }) => assignee?.id)],
    ]),
  },
  conversation_messages: {
    collection: conversationMessageCollection,
    readers: new Map([
      ["author_type", reader<ConversationMessageRow>(["author"], ({ author }) => author.type)],
      ["author_id", reader<ConversationMessageRow>(["author"], ({ author }) => author.id)],
      ["media_count", reader<ConversationMessageRow>(["media"], ({ media }) => media?.length ?? 0)],
      ["content", reader<ConversationMessageRow>(contents, contentOf)],
    ]),
  },
};

/** What a message is beside its text, where it is something. */
function contentOf(row: ConversationMessageRow): object {
  const { media } = row;
  const files = media?.map(({ type, filename, mime_type, size_bytes, sha256 }) =>
    defined({ type, filename, mime_type, size_bytes, sha256 }),
  );
  const others = Object.fromEntries(contents.flatMap((name) => (row[name] === undefined ? [] : [[name, row[name]]])));
  return { ...others, ...(files !== undefined && { media: files }) };
}
