import { type Static, Type } from "typebox";
import { DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";

const { Enum, Object: Group, Optional, String: Text } = Type;

export const AuditActor = Group({
  type: Enum(["api_key", "resource", "system", "device"], { description: "who did it" }),
  id: Text({ description: "id of the key; of a resource its kind, namespace and name" }),
});
export type AuditActor = Static<typeof AuditActor>;

/** An entry of the audit log. Source: docs/reference/audit-log.md. */
export const AuditEntry = Group({
  id: Text(),
  at: DateTime,
  actor: AuditActor,
  action: Text({ description: "such as webhook.updated" }),
  target: Group({ type: Text(), id: Text() }),
  app_id: Nullable(Text({ description: "the app that it is about; null: the organisation" })),
  changes: Type.Record(Text(), Type.Unknown(), {
    description: "each member that got another value: `before` and `after`, never a secret",
  }),
  ip: Nullable(Text()),
  request_id: Nullable(Text()),
});
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditPage = PageOf(AuditEntry);

export const auditPaging = pagingOf({ keys: ["at"], sort: "-at" });

const word = { minLength: 1, maxLength: 128 };

/** Query of `GET …/audit-log`. */
export const AuditQuery = Group({
  ...auditPaging.pageQuery,
  actor: Optional(Text({ ...word, description: "id of who did it" })),
  action: Optional(Text({ ...word, description: "such as webhook.updated" })),
  target_type: Optional(Text({ ...word, description: "such as webhook" })),
  target_id: Optional(Text(word)),
  from: Optional(DateTime),
  to: Optional(DateTime),
  ...auditPaging.sortQuery,
});
export type AuditQuery = Static<typeof AuditQuery>;

named({ AuditActor, AuditEntry, AuditPage });
