import type { Collection, Filter, MatchKeysAndValues, OptionalUnlessRequiredId } from "mongodb";
import type { CollectionSpec } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { dueIndex } from "../work/due.ts";
import type { JobRow } from "../work/jobs.ts";

/** What a job has last made for somebody who asked. It goes some days after the last question. */
export type ReportRow = JobRow & {
  _id: string;
  asked_at: Date;
  /** When what it is made of was read; null before. */
  as_of: Date | null;
  /** Not made again before. */
  rests_until: Date;
};

/** A collection of reports that name nobody. */
export const reportCollection = (name: string, { keptDays }: { keptDays: number }): CollectionSpec => ({
  name,
  indexes: [
    { key: { app_id: 1 }, name: "app" },
    { key: { asked_at: 1 }, name: "retention", expireAfterSeconds: keptDays * 86_400 },
    dueIndex,
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
});

/** One that is asked for, and was never made. */
export const newReport = (now: Date) => ({
  asked_at: now,
  as_of: null,
  rests_until: now,
  due_at: now,
  lease: null,
  fence: 0,
});

/** Has a report made, or made again at `dueAt` and with `set`, unless it is about to be. */
export const askFor = async <Row extends ReportRow>(
  rows: Collection<Row>,
  row: OptionalUnlessRequiredId<Row> & ReportRow,
  { dueAt, set = {} }: { dueAt: Date; set?: Partial<Row> },
): Promise<void> => {
  if (await insertNew(rows, row)) return;
  const idle = { _id: row._id, tenant_id: row.tenant_id, due_at: null } as Filter<Row>; // sound: Row has these members
  const asked = { ...set, asked_at: row.asked_at, due_at: dueAt } as MatchKeysAndValues<Row>; // as these
  await rows.updateOne(idle, { $set: asked });
};
