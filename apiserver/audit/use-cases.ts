import type { Db } from "mongodb";
import { dateOf } from "#core/domain/clock.ts";
import { AuditEntry, type AuditQuery, auditPaging } from "#core/schema/audit/audit.ts";
import { showAs } from "#core/schema/json/show.ts";
import { type AuditRow, auditLog } from "#core/storage/audit/audit-log.ts";
import { type Cursors, type Page, readPage } from "../http/pages.ts";

export type AuditUse = ReturnType<typeof auditUse>;

/** Shows who changed what. Source: docs/reference/audit-log.md. */
export const auditUse = ({ db, cursors }: { db: Db; cursors: Cursors }) => {
  const log = auditLog(db);
  return {
    list: (
      of: { tenantId: string; appId: string | null },
      query: AuditQuery,
      signal: AbortSignal,
    ): Promise<Page<AuditEntry>> => {
      const { actor, action, target_type, target_id, from, to } = query;
      const filter = { actor, action, target_type, target_id, from: dateOf(from), to: dateOf(to) };
      return readPage({
        cursors,
        paging: auditPaging,
        list: `audit/${of.appId ?? of.tenantId}`,
        query,
        read: (page) => log.page(of, filter, page, signal),
        positionOf: ({ _id }) => _id,
        view,
      });
    },
  };
};

const view = (row: AuditRow): AuditEntry =>
  showAs(AuditEntry, { ...row, id: row._id, changes: JSON.parse(row.changes) as AuditEntry["changes"] }); // sound: our own text
