import type { Db } from "mongodb";
import type { ConversationPlace, ConversationState } from "../../domain/conversations/conversation.ts";
import type { Counted, Tallies } from "../../domain/conversations/tally.ts";
import { type CollectionSpec, collectionOf, farAhead, longAgo, type OfApp } from "../mongo/collection.ts";
import { inLockOrder, retryConflicts } from "../mongo/duplicate.ts";
import { type DueWork, dueIndex, noWork } from "../work/due.ts";

/** How many conversations of an app are what; it is due when some changed since. */
export type ConversationCountsRow = DueWork & {
  _id: string;
  tenant_id: string;
  app_id: string;
  /** Grows with each count: who counts writes only what is as they read it. */
  version: number;
  tallies: Tallies;
  /** What the tallies have of conversations that do not say so themselves yet. */
  marks: Mark[];
};

/** That a conversation is counted as it was at a change of it; null: it is gone. */
export type Mark = { id: string; seq: number; counted: Counted | null };

export const conversationCountsCollection: CollectionSpec = {
  name: "conversation_counts",
  indexes: [{ key: { app_id: 1 }, name: "app" }, dueIndex],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { kept: "numbers alone" },
  retention: { kept: "one document of an app" },
};

export type ConversationCounts = ReturnType<typeof conversationCounts>;

/** What of a conversation says how it is counted. */
export type UncountedRow = Pick<
  ConversationState & ConversationPlace,
  "channel" | "status" | "unread_count" | "waiting_since" | "closed_at" | "first_response_at"
> & {
  _id: string;
  seq: number;
  assignee_id: string;
  first_response_ms?: number | null;
  counted?: Counted & { seq: number };
  gone?: true;
};

/** A conversation that may be counted anew since it changed. */
type Row = UncountedRow & { app_id: string; uncounted_at?: Date | null };

const countedMembers =
  "seq counted gone channel assignee_id status unread_count waiting_since closed_at first_response_at first_response_ms";

export const conversationCounts = (db: Db) => {
  const counts = collectionOf<ConversationCountsRow>(db, conversationCountsCollection);
  const rows = collectionOf<Row>(db, { name: "conversations" }); // its spec names who erases from both
  return {
    find: ({ tenantId, appId }: OfApp): Promise<ConversationCountsRow | null> =>
      counts.findOne({ _id: appId, tenant_id: tenantId }),

    /** Says that conversations of an app have changed: they are counted at once. */
    touch: async ({ tenantId, appId }: OfApp, now: Date): Promise<void> => {
      const { due_at: _, ...work } = noWork;
      const made = { tenant_id: tenantId, app_id: appId, version: 0, tallies: {}, marks: [], ...work };
      await retryConflicts(() =>
        counts.updateOne({ _id: appId }, { $min: { due_at: now }, $setOnInsert: made }, { upsert: true }),
      );
    },

    /** Conversations of an app that changed since they were counted. */
    uncounted: (appId: string, most: number): Promise<UncountedRow[]> =>
      rows
        .find(
          { app_id: appId, uncounted_at: { $gt: longAgo, $lt: farAhead } },
          { hint: "uncounted", batchSize: most + 1 },
        )
        .project<UncountedRow>(Object.fromEntries(countedMembers.split(" ").map((member) => [member, 1])))
        .limit(most)
        .toArray(),

    /** Writes tallies, and what they have now of conversations. False when another counted at the same moment. */
    write: async (
      read: Pick<ConversationCountsRow, "_id" | "version">,
      { tallies, marks, dueAt }: { tallies?: Tallies; marks: Mark[]; dueAt: Date },
    ): Promise<boolean> => {
      const set = { ...(tallies !== undefined && { tallies }), marks, due_at: dueAt, version: read.version + 1 };
      const { matchedCount } = await counts.updateOne({ _id: read._id, version: read.version }, { $set: set });
      return matchedCount === 1;
    },

    /** Has conversations say how they are counted, and removes those that are gone. May be done twice. */
    mark: async (marks: readonly Mark[]): Promise<void> => {
      const gone = marks.flatMap(({ id, counted }) => (counted === null ? [id] : []));
      if (gone.length > 0) await rows.deleteMany({ _id: { $in: gone }, gone: true });
      const all = marks.flatMap(({ id, seq, counted }) => (counted === null ? [] : { id, seq, counted }));
      const kept = inLockOrder(all, ({ id }) => id);
      if (kept.length === 0) return;
      const asCounted = kept.map(({ id, seq, counted }) => ({
        updateOne: { filter: { _id: id, seq }, update: { $set: { counted: { ...counted, seq }, uncounted_at: null } } },
      }));
      const { matchedCount } = await retryConflicts(() => rows.bulkWrite(asCounted, { ordered: false }));
      if (matchedCount === kept.length) return;
      const changedSince = kept.map(({ id, seq, counted }) => ({
        updateOne: {
          filter: { _id: id, seq: { $gt: seq }, "counted.seq": { $not: { $gte: seq } } },
          update: { $set: { counted: { ...counted, seq } } },
        },
      }));
      await retryConflicts(() => rows.bulkWrite(changedSince, { ordered: false }));
    },
  };
};

/** How often an app is counted in which nothing is known to have changed. */
export const lookMs = 300_000;

/** When an app is looked at again in which nothing is known to have changed: who changed something may have been killed. */
export const countAgainAfter = (now: Date): Date => new Date(now.getTime() + lookMs);
