import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { countedOf, dayOf, recounted } from "#core/domain/conversations/tally.ts";
import { dayMs } from "#core/domain/durations.ts";
import { type AnyTimerSource, timerSource } from "#core/queue/timers.ts";
import {
  type ConversationCounts,
  type ConversationCountsRow,
  conversationCounts,
  conversationCountsCollection,
  countAgainAfter,
  type Mark,
  type UncountedRow,
} from "#core/storage/conversations/counts.ts";
import { collectionOf, ofRow } from "#core/storage/mongo/collection.ts";
import type { Waiting } from "./waiting.ts";

/** Counts conversations for stats, some seconds after they changed. */
export const countingTimer = ({ db, waiting, clock }: CountingTimerDeps): AnyTimerSource => {
  const count = countConversations({ counts: conversationCounts(db), waiting, clock });
  return timerSource({
    name: "conversation_counts",
    collection: collectionOf<ConversationCountsRow>(db, conversationCountsCollection),
    select: ["tenant_id", "app_id"],
    everyMs: 5_000, // a conversation that changes all the time is written once more in each
    handle: count,
  });
};

type CountingTimerDeps = { db: Db; waiting: Pick<Waiting, "counted">; clock: Clock };

export type CountingDeps = {
  counts: ConversationCounts;
  /** What is shown of how many wait. */
  waiting: Pick<Waiting, "counted">;
  clock: Clock;
};

const atOnce = 500; // conversations of one write
const most = 20; // such writes in a row: others wait

/**
 * Counts the conversations of an app that changed, each exactly once: the tallies are written with what they have now of each,
 * then each says so itself. Whoever was killed in between left the marks in the tallies, and they are made first.
 */
export const countConversations =
  ({ counts, waiting, clock }: CountingDeps) =>
  async (due: Pick<ConversationCountsRow, "tenant_id" | "app_id">): Promise<void> => {
    for (let n = 0; n < most; n++) {
      const read = await counts.find(ofRow(due));
      if (read === null) return;
      await counts.mark(read.marks);
      const rows = await counts.uncounted(read.app_id, atOnce);
      const now = clock.now();
      if (rows.length === 0) {
        waiting.counted(read.app_id, read.tallies);
        await counts.write(read, { marks: [], dueAt: countAgainAfter(now) });
        return;
      }
      const changes = rows.map((row) => ({ before: row.counted ?? null, after: markOf(row).counted }));
      const since = dayOf(new Date(now.getTime() - dayMs));
      const tallies = recounted(read.tallies, changes, since);
      if (!(await counts.write(read, { tallies, marks: rows.map(markOf), dueAt: now }))) return; // another counts
    }
  };

const markOf = (row: UncountedRow): Mark => ({
  id: row._id,
  seq: row.seq,
  counted: row.gone === true ? null : countedOf(row),
});
