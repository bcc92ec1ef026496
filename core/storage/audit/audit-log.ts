import type { Db } from "mongodb";
import { defined } from "../../domain/defined.ts";
import type { AuditActor } from "../../schema/audit/audit.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertMissing } from "../mongo/duplicate.ts";
import { type PagePlace, pageRange } from "../mongo/page-range.ts";
import { readSlices } from "../mongo/read-slices.ts";
import type { Within } from "../mongo/read-within.ts";

/** Something that was done to what an organisation has set up. It never has a secret or a header's value. */
export type AuditRow = {
  _id: string;
  tenant_id: string;
  /** The app that it is about; null: the organisation. */
  app_id: string | null;
  at: Date;
  actor: AuditActor;
  action: string;
  target: { type: string; id: string };
  /** Members that got another value, by their names; text of JSON, as names may be anybody's. */
  changes: string;
  ip: string | null;
  request_id: string | null;
};

const keptDays = 365; // docs/reference/audit-log.md

export const auditCollection: CollectionSpec = {
  name: "audit_log",
  indexes: [
    { key: { tenant_id: 1, _id: 1 }, name: "list" },
    { key: { app_id: 1, _id: 1 }, name: "app" },
    { key: { at: 1 }, name: "retention", expireAfterSeconds: keptDays * 86_400 },
  ],
  owner: { kind: "tenant", member: "tenant_id" },
  appRemoval: { kept: "who removed an app, and what was done to it, stays known" },
  erasure: { kept: "names keys and resources, and no app's users" },
  retention: { index: "retention" },
};

export type AuditFilter = {
  actor?: string | undefined;
  action?: string | undefined;
  target_type?: string | undefined;
  target_id?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
};

export const auditLog = (db: Db) => {
  const rows = collectionOf<AuditRow>(db, auditCollection);
  return {
    /** Keeps entries; those that are there already stay as they are. */
    add: async (made: readonly AuditRow[]): Promise<void> => {
      if (made.length > 0) await insertMissing(rows, made);
    },

    /** One page of an organisation's entries, or of one app's. No index finds those of a filter: it may be shorter. */
    page: (
      { tenantId, appId }: { tenantId: string; appId: string | null },
      { from, to, actor, action, target_type: type, target_id: id }: AuditFilter,
      { limit, ...page }: PagePlace & { limit: number },
      signal: AbortSignal,
    ): Promise<Within<AuditRow>> => {
      const range = pageRange("auditEntry", { from, to }, page);
      const wanted = {
        tenant_id: tenantId,
        ...defined({ "actor.id": actor, action, "target.type": type, "target.id": id }),
      };
      const list =
        appId === null
          ? ({ of: { tenant_id: tenantId }, hint: "list" } as const)
          : ({ of: { app_id: appId }, hint: "app" } as const);
      return readSlices(rows, { ...list, by: "_id", range, isDescending: page.isDescending, wanted, limit }, signal);
    },
  };
};
