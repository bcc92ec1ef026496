import { type Collection, type Db, type Filter, MongoBulkWriteError } from "mongodb";
import { defined } from "../../domain/defined.ts";
import { beforeIdsOf } from "../../domain/ids.ts";
import { gather } from "../../runtime/batching/gather.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { idsBehind, type PagePlace, pageRange } from "../mongo/page-range.ts";
import { findIds } from "../mongo/pages.ts";
import { readWithin, type Within } from "../mongo/read-within.ts";
import { changeIndex } from "../warehouse/change-index.ts";
import { dueIndex, suspendedIndex } from "../work/due.ts";
import { cancelling } from "./cancelling.ts";
import { eraseSent } from "./erasure.ts";
import type { MessageRow, MessageStatus } from "./message-row.ts";
import { removeMessages } from "./removal.ts";

export const messageCollection: CollectionSpec = {
  name: "messages",
  indexes: [
    {
      key: { app_id: 1, idempotency_key: 1, operation: 1 },
      name: "idempotency_of_operation",
      unique: true,
      partialFilterExpression: { idempotency_key: { $exists: true } },
    },
    { key: { app_id: 1, _id: -1 }, name: "list" },
    { key: { app_id: 1, status: 1, _id: -1 }, name: "list_by_status" },
    { key: { app_id: 1, labels: 1, _id: -1 }, name: "list_by_label" },
    {
      key: { app_id: 1, category: 1, _id: -1 },
      name: "list_by_category",
      partialFilterExpression: { category: { $gt: "" } },
    },
    {
      key: { app_id: 1, template_id: 1, _id: -1 },
      name: "list_by_template",
      partialFilterExpression: { template_id: { $gt: "" } },
    },
    {
      key: { app_id: 1, campaign_id: 1, _id: -1 },
      name: "list_by_campaign",
      partialFilterExpression: { campaign_id: { $gt: "" } },
    },
    // those that are not "api", which most are
    {
      key: { app_id: 1, source: 1, _id: -1 },
      name: "list_by_source",
      partialFilterExpression: { source: { $gt: "api" } },
    },
    {
      key: { "live_activity.activity": 1, _id: -1 },
      name: "live_activity",
      partialFilterExpression: { "live_activity.activity": { $gt: "" } },
    },
    {
      key: { app_id: 1, segment_ids: 1, status: 1 },
      name: "segments",
      partialFilterExpression: { segment_ids: { $exists: true } },
    },
    {
      key: { app_id: 1, template_id: 1, status: 1 },
      name: "template_uses",
      partialFilterExpression: { template_id: { $gt: "" } },
    },
    { key: { plan: 1, completed_at: 1 }, name: "retention" },
    changeIndex, // for warehouse exports: docs/decisions/0126
    suspendedIndex,
    dueIndex,
  ],
  former: ["idempotency"], // a key was unique within its app
  owner: { kind: "app", member: "app_id" },
  appRemoval: { remove: (db, app, onPage) => removeMessages(db, collectionOf(db, messageCollection), app, onPage) },
  erasure: { erase: (db, person, onPage) => eraseSent(db, collectionOf(db, messageCollection), person, onPage) },
  retention: { plan: "retention" },
};

export type Messages = ReturnType<typeof messages>;

/** What the list may be narrowed by. */
export type MessageFilter = {
  status?: MessageStatus;
  label?: string;
  category?: string;
  templateId?: string;
  campaignId?: string;
  source?: MessageRow["source"];
  idempotencyKey?: string;
  from?: Date;
  to?: Date;
};

/** What the REST interface does to messages; the dispatcher's part is work.ts. */
export const messages = (db: Db) => {
  const rows = collectionOf<MessageRow>(db, messageCollection);
  const insert = gather({ write: (made: readonly MessageRow[]) => insertAll(rows, made), ...batched });
  return {
    ...lookups(rows),
    ...cancelling(rows),

    /** Stores a new message; false when its idempotency key is taken by another. Many at a time share a command. */
    insert: async (row: MessageRow): Promise<boolean> => (await insert(row)) || insertAlone(rows, row),

    /** Frees the key of a message that has been remembered long enough. */
    releaseKey: async (tenantId: string, id: string): Promise<void> => {
      await rows.updateOne({ _id: id, tenant_id: tenantId }, { $unset: { idempotency_key: "" } });
    },

    /** One page in the order of creation; ids sort by it. Of large messages as many as come to {@link pageBytes}. Left out `members`: all. */
    list: <Member extends keyof MessageRow = keyof MessageRow>(
      { tenantId, appId, filter }: { tenantId: string; appId: string; filter: MessageFilter },
      page: PagePlace & { limit: number; members?: readonly Member[] },
      signal: AbortSignal,
    ): Promise<Within<Pick<MessageRow, Member>>> =>
      readWithin(
        rows
          .find<Pick<MessageRow, Member>>(
            { app_id: appId, tenant_id: tenantId, ...conditions(filter, page) },
            { signal, projection: page.members === undefined ? unseen : only(page.members) },
          )
          .sort({ _id: page.isDescending ? -1 : 1 })
          .hint(indexOf(filter, page))
          .limit(page.limit),
        pageBytes,
      ),
  };
};

const lookups = (rows: Collection<MessageRow>) => ({
  find: (tenantId: string, id: string, signal: AbortSignal): Promise<MessageRow | null> =>
    rows.findOne({ _id: id, tenant_id: tenantId }, { signal }),

  /** The message that an operation made with a key; the operation is left out for `POST /v1/notifications`. */
  findByKey: (
    { tenantId, appId }: OfApp,
    { key, operation }: { key: string; operation?: string | undefined },
    signal: AbortSignal,
  ): Promise<MessageRow | null> => {
    const of = { app_id: appId, idempotency_key: key, tenant_id: tenantId };
    return rows.findOne({ ...of, operation: operation ?? { $exists: false } }, { signal });
  },

  /** When the newest message of an app was made, where that is after `now`: by a process whose clock is ahead. */
  madeBehind: async ({ tenantId, appId }: OfApp, now: Date): Promise<Date | null> => {
    const filter = { app_id: appId, _id: idsBehind("message", beforeIdsOf("message", now)), tenant_id: tenantId };
    const one = { sort: { _id: -1 as const }, hint: "list", projection: { created_at: 1 } };
    return (await rows.findOne(filter, one))?.created_at ?? null;
  },

  /** Which of these messages there are; `ids` are 500 at most. */
  stored: async (tenantId: string, ids: readonly string[]): Promise<Set<string>> =>
    new Set(await findIds(rows, { _id: { $in: [...ids] }, tenant_id: tenantId })),
});

const unseen = { email_html: 0 };
const only = (members: readonly string[]) => Object.fromEntries(members.map((name) => [name, 1]));
const pageBytes = 8_000_000; // a message has up to 2 MB, and a page up to 200

/** 20 bodies of 2 MB stay below MongoDB's 48 MB; two writes keep one busy while the other's answer is read. */
const batched = { most: 50, inFlight: 1, isOfTurn: true };

/** Inserts what can be, and says of each whether it was. */
const insertAll = async (rows: Collection<MessageRow>, made: readonly MessageRow[]): Promise<boolean[]> => {
  try {
    await rows.insertMany([...made], { ordered: false });
    return made.map(() => true);
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failed = new Set([error.writeErrors].flat().map(({ index }) => index));
    if (failed.size === 0) throw error;
    return made.map((_, i) => !failed.has(i));
  }
};

/** What a common write did not store is tried alone: a conflict passes, a taken key stays taken. */
const insertAlone = async (rows: Collection<MessageRow>, row: MessageRow): Promise<boolean> =>
  (await insertNew(rows, row)) || isStored(rows, row);

/** The driver repeats a write whose answer was lost: then the duplicate is this very message. */
const isStored = async (rows: Collection<MessageRow>, { _id }: MessageRow): Promise<boolean> =>
  (await rows.countDocuments({ _id }, { limit: 1 })) === 1;

/** The index that leaves the least to read: that of all messages walks the whole app to find a few. */
const indexOf = (
  { idempotencyKey, templateId, campaignId, source = "api", category, label, status }: MessageFilter,
  { isDescending }: Pick<PagePlace, "isDescending">,
): string => {
  if (idempotencyKey !== undefined) return "idempotency_of_operation";
  if (templateId !== undefined) return "list_by_template";
  if (campaignId !== undefined) return "list_by_campaign";
  if (source !== "api") return "list_by_source";
  if (category !== undefined) return "list_by_category";
  if (label !== undefined && isDescending) return "list_by_label"; // FerretDB sorts when it reads lists backwards
  return status === undefined ? "list" : "list_by_status";
};

const conditions = (
  { source, status, label, category, templateId, campaignId, idempotencyKey, ...times }: MessageFilter,
  place: PagePlace,
): Filter<MessageRow> => ({
  _id: pageRange("message", times, place), // a message and its id are of the same instant
  ...defined({ source, status, labels: label, category, template_id: templateId, campaign_id: campaignId }),
  ...defined({ idempotency_key: idempotencyKey }),
});
