import type { Clock } from "#core/domain/clock.ts";
import { makeEvent } from "#core/domain/events.ts";
import { newId } from "#core/domain/ids.ts";
import { noReferences } from "#core/schema/event-refs.ts";
import type { Caller } from "./caller.ts";
import type { EmitEvents } from "./events/emit.ts";

/** Something that was done to an app's settings, for its owner to see. Never holds a secret or a header's value. */
export type AuditFact = {
  tenantId: string;
  appId: string;
  actor: { type: "api_key"; id: string };
  action: string;
  target: { type: string; id: string };
  /** Members that have another value now. */
  changes: Record<string, { before: unknown; after: unknown }>;
  ip: string;
};

export type Audit = (fact: AuditFact) => Promise<void>;

/** Tells facts as events `audit.created`. Source: decisions 10.2. */
export const auditEvents =
  ({ emit, clock }: { emit: EmitEvents; clock: Clock }): Audit =>
  async ({ tenantId, appId, ...fact }) => {
    const at = clock.now();
    const data = { ...noReferences, ...fact };
    const from = [newId("event", at)]; // each happens once
    const kind = "audit.created";
    await emit(tenantId, appId, [makeEvent({ kind, appId, subjectId: fact.target.id, data, at, from })], null);
  };

/** Who asked for a change, and from where. */
export type By = { caller: Caller; ip: string };

/** A change of a thing of an app, as the REST interface shows the thing before and after; null where it was not. */
export type Changed = {
  /** Kind of the thing, such as `webhook`. */
  type: string;
  id: string;
  appId: string;
  verb: string;
  before: object | null;
  after: object | null;
};

export const changeFact = ({ caller, ip }: By, { type, id, appId, verb, before, after }: Changed): AuditFact => ({
  tenantId: caller.tenant._id,
  appId,
  actor: { type: "api_key", id: caller.key._id },
  action: `${type}.${verb}`,
  target: { type, id },
  changes: changesOf(before, after),
  ip,
});

/** Members that are not somebody's to change. */
const untold = new Set(["id", "app_id", "updated_at", "created_at"]);

const changesOf = (before: object | null, after: object | null): AuditFact["changes"] => {
  const names = Object.keys({ ...before, ...after }).filter((name) => !untold.has(name));
  const entries = names.map((name) => [name, { before: valueOf(before, name), after: valueOf(after, name) }] as const);
  return Object.fromEntries(entries.filter(([, change]) => !isSame(change.before, change.after)));
};

const valueOf = (view: object | null, name: string): unknown => (view === null ? null : Reflect.get(view, name));

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
