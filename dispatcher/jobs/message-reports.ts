import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { instantOfId } from "#core/domain/ids.ts";
import { messageParts } from "#core/storage/analytics/message-parts.ts";
import { type MessageReportRow, messageReportCollection } from "#core/storage/analytics/message-reports.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import type { Job } from "./job.ts";
import { job } from "./run.ts";

export type MessageReportJobDeps = { db: Db; clock: Clock };

/** A report is not made again for so many times as long as making it took: one core is at most so little busy with it. */
const pauseTimes = 20;

/** Tells apart what became of a message with many deliveries, once somebody has asked: docs/decisions/0183. */
export const messageReportJob = ({ db, clock }: MessageReportJobDeps): Job => {
  const partsOf = messageParts(db);
  return job<MessageReportRow>({
    name: messageReportCollection.name,
    rows: collectionOf<MessageReportRow>(db, messageReportCollection),
    run: async ({ _id }) => {
      const [as_of, beganMs] = [clock.now(), performance.now()];
      const parts = await partsOf(_id, instantOfId(_id));
      const rests_until = new Date(clock.now().getTime() + pauseTimes * (performance.now() - beganMs));
      return { end: { dueAt: null, set: { as_of, parts, rests_until } } };
    },
  });
};
