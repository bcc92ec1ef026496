import type { Db } from "mongodb";
import type { Timing } from "#core/domain/timing.ts";
import type { Announcer } from "#core/queue/announce.ts";
import { announceUses } from "#core/queue/announce-uses.ts";
import { countedDeliveries } from "#core/storage/analytics/counted-deliveries.ts";
import { dueQuarters } from "#core/storage/analytics/due-quarters.ts";
import { audience as audienceStore } from "#core/storage/messages/audience.ts";
import { choices } from "#core/storage/messages/choices.ts";
import { type ChunkRow, chunks } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { type Left, messageWork } from "#core/storage/messages/work.ts";
import { aimedSubscriptions } from "#core/storage/segments/aimed.ts";
import type { FactsOf } from "#core/storage/segments/facts.ts";
import { goneSegment } from "#core/storage/segments/segments.ts";
import { repeatWrite } from "../work/repeat-write.ts";

/** What is stored of messages and chunks, with this process as the holder of every lease that it takes. */
export const stores = ({
  db,
  factsOf,
  holder,
  timing: { leaseMs },
  announcer,
}: {
  db: Db;
  factsOf: FactsOf;
  holder: string;
  timing: Pick<Timing, "leaseMs">;
  announcer: Pick<Announcer, "changed">;
}) => {
  const [messages, parts, people] = [messageWork(db), chunks(db), audienceStore(db)];
  const [usage, quarters] = [countedDeliveries(db), dueQuarters(db)];
  /** What was counted of a holder is done with once this has stored its end. */
  const ending = async (holder: { _id: string }, end: Promise<boolean>): Promise<boolean> => {
    const isOurs = await end;
    if (isOurs) void usage.forget(holder._id);
    return isOurs;
  };
  const repeated = repeating(leaseMs);
  const lease = (now: Date) => ({ holder, now, leaseMs });
  return {
    usage,
    people,
    aimed: aimedSubscriptions(db, factsOf),
    choices: choices(db),
    segments: { goneOf: goneSegment(db) },
    messages: {
      ...messages,
      take: async (id: string, now: Date) => {
        const taken = await messages.take(id, lease(now));
        if (taken?.fence === 1) announceUses(announcer, taken); // it was queued until now
        return taken;
      },
      extend: (message: MessageRow, now: Date) => messages.extend(message, now, leaseMs),
      finish: async (message: MessageRow, end: Parameters<typeof messages.finish>[1]) => {
        await quarters.touchOf(message, end.counts); // before, so that who comes after a kill says it again
        return ending(message, messages.finish(message, end));
      },
      /** Of a planned message only chunks are left: what its turn sent is over. */
      rest: repeated((message: MessageRow, dueAt: Date, left: Left) => {
        const resting = messages.rest(message, dueAt, left);
        return left.planned ? ending(message, resting) : resting;
      }),
      defer: repeated(messages.defer),
    },
    chunks: {
      ...parts,
      take: (id: string, now: Date) => parts.take(id, lease(now)),
      extend: (chunk: ChunkRow, now: Date) => parts.extend(chunk, now, leaseMs),
      end: (chunk: ChunkRow) => ending(chunk, parts.end(chunk)),
      giveBack: repeated(parts.giveBack),
      defer: repeated(parts.defer),
    },
  };
};

/** Repeats a write while MongoDB is away, until the lease would have ended by itself. */
export const repeating =
  (leaseMs: number) =>
  <Args extends unknown[], T>(write: (...given: Args) => Promise<T>) =>
  (...given: Args): Promise<T> =>
    repeatWrite(leaseMs, () => write(...given));
