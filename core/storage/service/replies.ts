import type { Db } from "mongodb";
import { hourMs } from "../../domain/durations.ts";
import type { Sealed } from "../../runtime/process/key-ring.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";

/** A request that was made with an idempotency key, and what was answered. `_id` follows from operation and key. */
export type ReplyRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  /** SHA-256 of the canonical body, hex. */
  fingerprint: string;
  /** Until then the process that began it is answering it; null: it was answered. */
  held_until: Date | null;
  reply: StoredReply | null;
  /** When it was first begun. */
  created_at: Date;
};

/** `body`: null when it shows people's data, which is not kept here; `of` then names the thing that it shows. */
export type StoredReply = { status: number; of: string | null; body: Sealed | null };

/** How long a reply is remembered by its key. Source: docs/reference/limits.md#bounds. */
export const replyKeptHours = 24;
const memoryMs = replyKeptHours * hourMs;

export const replyCollection: CollectionSpec = {
  name: "idempotent_replies",
  indexes: [{ key: { created_at: 1 }, name: "retention", expireAfterSeconds: memoryMs / 1_000 }],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { kept: "a day at most, and sealed" },
  erasure: { kept: "no reply that shows people's data is stored" },
  retention: { index: "retention" },
};

/**
 * Whether a request may be answered now: by us, perhaps after another who was cut short; as it was before; or not yet,
 * because another is answering it.
 */
export type Begun =
  | { kind: "ours"; row: ReplyRow; isResumed: boolean }
  | { kind: "kept"; row: AnsweredRow }
  | { kind: "busy" };

export type AnsweredRow = ReplyRow & { reply: StoredReply };

export type Replies = ReturnType<typeof replies>;

/** What was answered to requests with an idempotency key. Source: docs/reference/requests.md#idempotency. */
export const replies = (db: Db) => {
  const rows = collectionOf<ReplyRow>(db, replyCollection);

  /** Goes on for a process that was cut short; begins a new one when the stored one is older than it is remembered. */
  const takeOver = async (before: ReplyRow, row: ReplyRow, now: Date): Promise<Begun> => {
    const isOld = before.created_at.getTime() + memoryMs <= now.getTime();
    if (!isOld && isKept(before)) return { kind: "kept", row: before };
    if (!isOld && before.held_until !== null && before.held_until > now) return { kind: "busy" };
    const ours = isOld ? row : { ...row, created_at: before.created_at };
    const asRead = { _id: row._id, created_at: before.created_at, held_until: before.held_until };
    const { matchedCount } = await rows.replaceOne(asRead, ours);
    return matchedCount === 1 ? { kind: "ours", row: ours, isResumed: !isOld } : { kind: "busy" };
  };

  return {
    /** The reply that is kept for a request; null when there is none. */
    find: async (tenantId: string, id: string, now: Date): Promise<AnsweredRow | null> => {
      const since = new Date(now.getTime() - memoryMs);
      const row = await rows.findOne({ _id: id, tenant_id: tenantId, created_at: { $gt: since } });
      return row !== null && isKept(row) ? row : null;
    },

    begin: async (row: ReplyRow, now: Date): Promise<Begun> => {
      if (await insertNew(rows, row)) return { kind: "ours", row, isResumed: false };
      const before = await rows.findOne({ _id: row._id, tenant_id: row.tenant_id });
      return before === null ? { kind: "busy" } : takeOver(before, row, now);
    },

    /** Keeps the reply of a request that is still ours. */
    keep: async ({ _id, held_until }: ReplyRow, reply: StoredReply): Promise<void> => {
      await rows.updateOne({ _id, held_until }, { $set: { reply, held_until: null } });
    },

    /** Forgets a request that changed nothing: its key is free again. */
    forget: async ({ _id, held_until }: ReplyRow): Promise<void> => {
      await rows.deleteOne({ _id, held_until });
    },

    /** Lets another go on with a request of which it is not known what it changed. */
    release: async ({ _id, held_until }: ReplyRow, now: Date): Promise<void> => {
      await rows.updateOne({ _id, held_until }, { $set: { held_until: now } });
    },
  };
};

const isKept = (row: ReplyRow): row is AnsweredRow => row.reply !== null;
