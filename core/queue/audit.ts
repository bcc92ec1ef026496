import { createHash } from "node:crypto";
import { makeEvent } from "../domain/events/make.ts";
import { newId } from "../domain/ids.ts";
import { noReferences } from "../schema/events/refs.ts";
import type { AuditRow } from "../storage/audit/audit-log.ts";
import { type EventText, eventText } from "./events.ts";

/** Something that was done to what an organisation has set up, for its owner to see. It never has a secret or a header's value. */
export type AuditFact = {
  tenantId: string;
  /** Null: of no app, but the tenant's; then no event reports it. */
  appId: string | null;
  actor: { type: "api_key" | "resource"; id: string };
  action: string;
  target: { type: string; id: string };
  /** Members that have another value now. */
  changes: Record<string, { before: unknown; after: unknown }>;
  /** Of the request; null where a resource caused it. */
  ip: string | null;
  requestId: string | null;
};

/** The entry of the audit log that reports a fact. */
export const auditEntry = ({ tenantId, appId, requestId, ...fact }: AuditFact, at: Date): AuditRow => ({
  _id: newId("auditEntry", at),
  tenant_id: tenantId,
  app_id: appId,
  at,
  ...fact,
  changes: JSON.stringify(fact.changes),
  request_id: requestId,
});

/** Each is told: none repeats another. */
export type AuditEvent = EventText & { once: false };

/** The event that reports a fact. */
export const auditEvent = (fact: AuditFact & { appId: string }, at: Date): AuditEvent => {
  const { appId, actor, action, target, changes, ip } = fact;
  const data = { ...noReferences, actor, action, target, changes, ip };
  const from = [newId("event", at)]; // each happens once
  const event = makeEvent({ kind: "audit.created", appId, subjectId: target.id, data, at, from });
  return { ...eventText(event), once: false };
};

/** The events that report a fact: none of what is no app's. */
export const auditEventsOf = ({ appId, ...fact }: AuditFact, at: Date): AuditEvent[] =>
  appId === null ? [] : [auditEvent({ ...fact, appId }, at)];

/** Members that are not somebody's to change. */
const unreported = new Set(["id", "app_id", "updated_at", "created_at"]);

/** The members that have another value after a change, of a thing as it may be shown; null where it was not there. */
export const changesOf = (before: object | null, after: object | null): AuditFact["changes"] => {
  const names = Object.keys({ ...before, ...after }).filter((name) => !unreported.has(name));
  const entries = names.map((name) => [name, { before: valueOf(before, name), after: valueOf(after, name) }] as const);
  return Object.fromEntries(entries.filter(([, change]) => !isSame(change.before, change.after)));
};

const valueOf = (view: object | null, name: string): unknown => {
  const value: unknown = (view === null ? null : Reflect.get(view, name)) ?? null;
  const text = JSON.stringify(value) ?? "";
  return text.length > longestShown ? digestOf(text) : value;
};

const longestShown = 8_192; // characters of JSON: an event has both values of each member, and goes to every endpoint

/** What stands for a value that is too long: who kept the value can tell that it is the same. */
const digestOf = (text: string) => ({
  omitted_bytes: Buffer.byteLength(text),
  sha256: createHash("sha256").update(text).digest("hex"),
});

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
