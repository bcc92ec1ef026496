import { createHash } from "node:crypto";
import type { Clock } from "#core/domain/clock.ts";
import { makeEvent } from "#core/domain/events/make.ts";
import { newId } from "#core/domain/ids.ts";
import { AppError } from "#core/errors.ts";
import { eventText } from "#core/queue/events.ts";
import { noReferences } from "#core/schema/events/refs.ts";
import type { AuditRow } from "#core/storage/audit/audit-log.ts";
import type { StoredEvent } from "#core/storage/events/batch-row.ts";
import type { IntendedChange } from "#core/storage/work/intended-changes.ts";
import type { Caller } from "../access/caller.ts";
import type { EventStore } from "../publishing/event-store.ts";

/** Something that was done to the settings of an app or tenant, for its owner to see. It never has a secret or a header's value. */
export type AuditFact = {
  tenantId: string;
  /** Null: of no app, but the tenant's; then no event reports it. */
  appId: string | null;
  actor: { type: "api_key"; id: string };
  action: string;
  target: { type: string; id: string };
  /** Members that have another value now. */
  changes: Record<string, { before: unknown; after: unknown }>;
  ip: string;
  requestId: string;
};

/** What a change will have done, and where it can be seen. */
export type Intended = { fact: AuditFact; change: IntendedChange };

/**
 * Makes a change that an event reports; null when `make` gives null, because it could not be made. The event is stored
 * first: it is neither lost when the change was made, nor published when it was not, whatever fails between.
 */
export type Audit = <T>(intended: Intended, make: (changeId: string) => Promise<T | null>) => Promise<T | null>;

/** Reports changes as events `audit.created` and in the audit log, both stored in one document before the change is made. Source: docs/reference/events.md#audit-events. */
export const auditEvents =
  ({ prepare, clock }: { prepare: EventStore["prepare"]; clock: Clock }): Audit =>
  async ({ fact, change }, make) => {
    const { tenantId, appId } = fact;
    const events = appId === null ? [] : [auditEvent({ ...fact, appId }, clock.now())];
    const prepared = await prepare({ tenantId, appId: appId ?? tenantId, traceparent: null, events }, change, [
      auditEntry(fact, clock.now()),
    ]);
    try {
      const made = await make(prepared.changeId);
      if (made === null) prepared.withdraw();
      else prepared.publish();
      return made;
    } catch (error) {
      if (error instanceof AppError) prepared.withdraw(); // refused; after any other error it may have been made
      throw error;
    }
  };

/** The entry of the audit log that reports it. */
export const auditEntry = ({ tenantId, appId, requestId, ...fact }: AuditFact, at: Date): AuditRow => ({
  _id: newId("auditEntry", at),
  tenant_id: tenantId,
  app_id: appId,
  at,
  ...fact,
  changes: JSON.stringify(fact.changes),
  request_id: requestId,
});

/** The event that reports a fact. */
export const auditEvent = (fact: AuditFact & { appId: string }, at: Date): StoredEvent => {
  const { appId, actor, action, target, changes, ip } = fact;
  const data = { ...noReferences, actor, action, target, changes, ip };
  const from = [newId("event", at)]; // each happens once
  const event = makeEvent({ kind: "audit.created", appId, subjectId: target.id, data, at, from });
  return { ...eventText(event), once: false };
};

/** Who asked for a change, and from where. */
export type By = { caller: Caller; ip: string; requestId: string };

/** A change of a thing of an app, as the REST interface shows the thing before and after; null where it was not. */
export type Changed = {
  /** Kind of the thing, such as `webhook`. */
  type: string;
  collection: IntendedChange["collection"];
  id: string;
  appId: string | null;
  verb: string;
  before: object | null;
  after: object | null;
};

export const intend = ({ caller, ip, requestId }: By, changed: Changed): Intended => {
  const { type, collection, id, appId, verb, before, after } = changed;
  return {
    fact: {
      tenantId: caller.tenant._id,
      appId,
      actor: { type: "api_key", id: caller.key._id },
      action: `${type}.${verb}`,
      target: { type, id },
      changes: changesOf(before, after),
      ip,
      requestId,
    },
    change: { collection, document_id: id, kind: kindOf(changed) },
  };
};

const kindOf = ({ before, after }: Changed): IntendedChange["kind"] => {
  if (before === null) return "made";
  return after === null ? "removed" : "changed";
};

/** Members that are not somebody's to change. */
const unreported = new Set(["id", "app_id", "updated_at", "created_at"]);

const changesOf = (before: object | null, after: object | null): AuditFact["changes"] => {
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
