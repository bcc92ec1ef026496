import type { Db } from "mongodb";
import { shownAccounts } from "#core/channels/accounts.ts";
import type { Clock } from "#core/domain/clock.ts";
import { newId } from "#core/domain/ids.ts";
import { type AuditFact, auditEntry, auditEventsOf, changesOf } from "#core/queue/audit.ts";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import type { EventBatchRow } from "#core/storage/events/batch-row.ts";
import { eventBatches } from "#core/storage/events/batches.ts";
import type { CollectionSpec } from "#core/storage/mongo/collection.ts";
import type { IntendedChange } from "#core/storage/work/intended-changes.ts";
import { type Claimant, claimOf, nameOf } from "../policies/management.ts";

export type AuditDeps = {
  /** Where an entry is stored before what it tells of is done. */
  db: Db;
  clock: Clock;
  definition: ResourceDefinition;
  collection: Pick<CollectionSpec, "name" | "owner">;
  what: string;
};

/** A record before and after what a resource has done to it; null where it was not there. */
export type RecordChange = {
  id: string;
  kind: IntendedChange["kind"];
  before: object | null;
  /** The members that the resource says; null: the record is gone. */
  after: object | null;
};

/**
 * Makes a change that the audit log and an event report as the resource's doing: both are stored first, and count once the
 * change was made, as those of the REST interface (docs/decisions/0044). False from `make`: it was not made. What belongs
 * to the installation is nobody's to see, and is not reported.
 */
export const audited =
  (deps: AuditDeps) =>
  async <T>(
    resource: Claimant,
    change: RecordChange,
    make: (changeId: string | null) => Promise<T>,
    isMade: (made: T) => boolean,
  ): Promise<T> => {
    const row = batchOf(deps, resource, change);
    if (row === null) return make(null);
    const [batches, clock] = [eventBatches(deps.db), deps.clock];
    await batches.insert([row]);
    const made = await make(row._id); // after an error a dispatcher looks whether it was made
    if (isMade(made)) await batches.hasten(row._id, clock.now());
    else await batches.remove([row._id]);
    return made;
  };

const changeMs = 90_000; // as that of the apiserver's changes (docs/decisions/0044)

const batchOf = (deps: AuditDeps, resource: Claimant, change: RecordChange): EventBatchRow | null => {
  const fact = factOf(deps, resource, change);
  if (fact === null) return null;
  const now = deps.clock.now();
  return {
    _id: newId("eventBatch", now),
    tenant_id: fact.tenantId,
    app_id: fact.appId ?? fact.tenantId,
    events: auditEventsOf(fact, now),
    traceparent: null,
    change: { collection: deps.collection.name, document_id: change.id, kind: change.kind },
    audit: [auditEntry(fact, now)],
    due_at: new Date(now.getTime() + changeMs),
    lease: null,
    fence: 0,
    created_at: now,
  };
};

const verbs = { made: "created", changed: "updated", removed: "deleted" } as const;

const factOf = (
  { collection, what, definition }: AuditDeps,
  resource: Claimant,
  { id, kind, before, after }: RecordChange,
): AuditFact | null => {
  const all: Record<string, unknown> = { ...before, ...after };
  const tenantId = collection.name === "tenants" ? id : all["tenant_id"];
  if (typeof tenantId !== "string") return null;
  const appId = collection.name === "apps" ? id : all["app_id"];
  const type = what.replaceAll(" ", "_");
  const names = Object.keys(after ?? { name: null });
  return {
    tenantId,
    appId: typeof appId === "string" ? appId : null,
    actor: { type: "resource", id: nameOf(claimOf(definition, resource)) },
    action: `${type}.${verbs[kind]}`,
    target: { type, id },
    changes: changesOf(shown(before, names), shown(after, names)),
    ip: null,
    requestId: null,
  };
};

/** What nobody is shown: hashes of tokens, and what follows from other members. */
const hidden = new Set(["hashes", "tenant_id", "names", "uses", "due_at", "fence"]);

const shown = (row: object | null, names: readonly string[]): object | null => {
  if (row === null) return null;
  const members = names.filter((name) => !hidden.has(name)).map((name) => [name, memberOf(row, name)] as const);
  return Object.fromEntries(members);
};

const memberOf = (row: object, name: string): unknown => {
  const value: unknown = Reflect.get(row, name);
  // sound: only apps have channels, as their rows do
  return name === "channels" && value !== null && !Array.isArray(value)
    ? shownAccounts(value as Parameters<typeof shownAccounts>[0])
    : withoutSecrets(value);
};

/** A value without anything that is sealed. */
const withoutSecrets = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (Object.keys(value).toSorted().join() === "data,kid") return null; // as the key ring seals
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutSecrets(inner)]));
};
