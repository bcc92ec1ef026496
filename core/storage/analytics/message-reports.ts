import type { Db } from "mongodb";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { retryConflicts, unlessTaken } from "../mongo/duplicate.ts";
import { dueIndex } from "../work/due.ts";
import type { JobRow } from "../work/jobs.ts";
import type { MessageParts } from "./message-parts.ts";

/** What was last told apart of a message with many deliveries: `_id` is the message's. Made when somebody asks. */
export type MessageReportRow = JobRow & {
  asked_at: Date;
  /** When its deliveries were read; null before. */
  as_of: Date | null;
  parts: MessageParts | null;
  /** Not made again before. */
  rests_until: Date;
};

const keptDays = 30; // since somebody asked

export const messageReportCollection: CollectionSpec = {
  name: "message_reports",
  indexes: [
    { key: { app_id: 1 }, name: "app" },
    { key: { asked_at: 1 }, name: "retention", expireAfterSeconds: keptDays * 86_400 },
    dueIndex,
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
};

export type MessageReports = ReturnType<typeof messageReports>;

export const messageReports = (db: Db) => {
  const rows = collectionOf<MessageReportRow>(db, messageReportCollection);
  return {
    find: ({ tenantId, appId }: OfApp, messageId: string): Promise<MessageReportRow | null> =>
      rows.findOne({ _id: messageId, app_id: appId, tenant_id: tenantId }),

    /** Has the report made, or made again at `dueAt`, unless it is about to be. */
    ask: async (
      { tenantId, appId }: OfApp,
      messageId: string,
      { now, dueAt }: { now: Date; dueAt: Date },
    ): Promise<void> => {
      const isNew = await unlessTaken(
        () =>
          retryConflicts(() =>
            rows.insertOne({ ...newReport(now), _id: messageId, tenant_id: tenantId, app_id: appId }),
          ),
        null,
      );
      if (isNew !== null) return;
      const filter = { _id: messageId, tenant_id: tenantId, due_at: null };
      await rows.updateOne(filter, { $set: { asked_at: now, due_at: dueAt } });
    },
  };
};

const newReport = (now: Date) => ({
  asked_at: now,
  as_of: null,
  parts: null,
  rests_until: now,
  due_at: now,
  lease: null,
  fence: 0,
});
