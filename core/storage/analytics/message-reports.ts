import type { Db } from "mongodb";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import type { MessageParts } from "./message-parts.ts";
import { askFor, newReport, type ReportRow, reportCollection } from "./reports.ts";

/** What was last told apart of a message with many deliveries: `_id` is the message's. Made when somebody asks. */
export type MessageReportRow = ReportRow & { parts: MessageParts | null };

export const messageReportCollection: CollectionSpec = reportCollection("message_reports", { keptDays: 30 });

export type MessageReports = ReturnType<typeof messageReports>;

export const messageReports = (db: Db) => {
  const rows = collectionOf<MessageReportRow>(db, messageReportCollection);
  return {
    find: ({ tenantId, appId }: OfApp, messageId: string): Promise<MessageReportRow | null> =>
      rows.findOne({ _id: messageId, app_id: appId, tenant_id: tenantId }),

    /** Has the report made, or made again at `dueAt`, unless it is about to be. */
    ask: ({ tenantId, appId }: OfApp, messageId: string, { now, dueAt }: { now: Date; dueAt: Date }): Promise<void> =>
      askFor(rows, { ...newReport(now), _id: messageId, tenant_id: tenantId, app_id: appId, parts: null }, { dueAt }),
  };
};
