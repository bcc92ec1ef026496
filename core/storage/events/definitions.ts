import type { AnyBulkWriteOperation, Collection, Db } from "mongodb";
import type { PropertySchema } from "../../domain/events/property-types.ts";
import { derivedId } from "../../domain/ids.ts";
import { definitionLimits } from "../../schema/events/definition.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertMissing, retryConflicts } from "../mongo/duplicate.ts";
import { findIds, inPages } from "../mongo/pages.ts";
import { changeIndex } from "../warehouse/change-index.ts";
import type { Changeable } from "../work/intended-changes.ts";

/** The counts of a day, as its roll-up had them last. */
export type DayCounts = { count: number; users: number };

/** A number for each of the latest days, by `YYYY-MM-DD`. */
type ByDay = Record<string, number>;

/** A name under which events came to an app. `_id` follows from both. */
export type EventDefinitionRow = Changeable & {
  _id: string;
  tenant_id: string;
  app_id: string;
  name: string;
  display_name: string | null;
  is_conversion: boolean;
  outcome_unique: boolean;
  outcome_unattributed: boolean;
  retention_days: number | null;
  /** JSON of `PropertySchema[]`. */
  schema: string;
  /** Events, and different people, of each day. */
  counts: ByDay;
  users: ByDay;
  first_seen_at: Date;
  last_seen_at: Date;
  created_at: Date;
  updated_at: Date;
};

export const eventDefinitionCollection: CollectionSpec = {
  name: "event_definitions",
  indexes: [
    { key: { app_id: 1, name: 1 }, name: "name", unique: true },
    changeIndex, // for warehouse exports: docs/decisions/0126
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "name" },
  erasure: { kept: "names nobody" },
  retention: { kept: "until its app is removed" },
};

export const definitionIdOf = (appId: string, name: string): string => derivedId("eventDefinition", appId, name);

/** What the counting of events changes of a definition. */
export type DefinitionChange = {
  row: EventDefinitionRow;
  /** Of days, by `YYYY-MM-DD`: they only grow. */
  days: Readonly<Record<string, DayCounts>>;
  /** Days that are shown no longer. */
  former: readonly string[];
  lastSeenAt: Date;
};

/** As a list has it: without the people of each day. */
export type ListedDefinition = Omit<EventDefinitionRow, "users">;

export type EventDefinitions = ReturnType<typeof eventDefinitions>;

export const eventDefinitions = (db: Db) => {
  const rows = collectionOf<EventDefinitionRow>(db, eventDefinitionCollection);
  return {
    find: ({ tenantId, appId }: OfApp, name: string): Promise<EventDefinitionRow | null> =>
      rows.findOne({ _id: definitionIdOf(appId, name), tenant_id: tenantId }),

    /** One page, in the order of the names' bytes. */
    page: (
      { tenantId, appId }: OfApp,
      { after, limit }: { after: string | null; limit: number },
    ): Promise<ListedDefinition[]> =>
      rows
        .find(
          { app_id: appId, name: { $gt: after ?? "", $lt: behindAllNames }, tenant_id: tenantId },
          { hint: "name", batchSize: limit + 1, projection: { users: 0 } },
        )
        .sort({ name: 1 })
        .limit(limit)
        .toArray(),

    /** Those of the definitions with these ids that there are, of any app. */
    withIds: (ids: readonly string[]): Promise<EventDefinitionRow[]> =>
      inPages(ids, page, (some) => rows.find({ _id: { $in: some } }, { batchSize: page + 1 }).toArray()),

    /** Defines names as long as their app has room; gives those of them that are defined then. */
    define: (of: OfApp, names: readonly string[], now: Date): Promise<EventDefinitionRow[]> =>
      define(rows, { ...of, names: [...new Set(names)], now }),

    /** Writes what was counted. May be done twice, and in any order. */
    count: async (changes: readonly DefinitionChange[]): Promise<void> => {
      const inOrder = changes.toSorted((a, b) => byId(a.row, b.row));
      if (changes.length > 0) await retryConflicts(() => rows.bulkWrite(inOrder.map(countsOf), { ordered: false }));
    },

    /** Replaces a schema unless it has changed since it was read; false then. */
    setSchema: async (
      { _id, schema: before }: EventDefinitionRow,
      schema: readonly PropertySchema[],
    ): Promise<boolean> =>
      (await rows.updateOne({ _id, schema: before }, { $set: { schema: JSON.stringify(schema) } })).matchedCount === 1,

    /** Changes what nobody has changed since it was read; null otherwise. */
    change: (read: EventDefinitionRow, set: Partial<EventDefinitionRow>): Promise<EventDefinitionRow | null> =>
      rows.findOneAndUpdate(
        { _id: read._id, tenant_id: read.tenant_id, updated_at: read.updated_at },
        { $set: set },
        { returnDocument: "after" },
      ),
  };
};

const behindAllNames = "\u{10ffff}";
const page = 500;

type Defining = OfApp & { names: readonly string[]; now: Date };

/** Of two who define at once and pass the limit by that, each takes back what is too much, so that it is never passed. */
const define = async (rows: Collection<EventDefinitionRow>, wanted: Defining): Promise<EventDefinitionRow[]> => {
  const found = await defined(rows, wanted);
  const known = new Set(found.map(({ name }) => name));
  const missing = wanted.names.filter((name) => !known.has(name));
  if (missing.length === 0) return found;
  const left = definitionLimits.definitions - (await countOf(rows, wanted.appId));
  const made = missing
    .slice(0, Math.max(0, left))
    .map((name) => newDefinition(wanted, name))
    .sort(byId);
  if (made.length === 0) return found;
  const others = await retryConflicts(() => insertMissing(rows, made));
  const excess = (await countOf(rows, wanted.appId)) - definitionLimits.definitions;
  const own = made.map(({ _id }) => _id).filter((id) => !others.has(id));
  if (excess > 0) await rows.deleteMany({ _id: { $in: own.slice(-excess) } });
  return defined(rows, wanted);
};

/** In one order, so that writers who meet wait for each other and not in a circle. */
const byId = (a: { _id: string }, b: { _id: string }): number => (a._id < b._id ? -1 : 1);

const defined = (rows: Collection<EventDefinitionRow>, { tenantId, appId, names }: Defining) =>
  inPages(names, page, (some) =>
    rows
      .find(
        { _id: { $in: some.map((name) => definitionIdOf(appId, name)) }, tenant_id: tenantId },
        { batchSize: page + 1 },
      )
      .toArray(),
  );

// One by one, a thousand at most: the server does not take the index for a count.
const countOf = async (rows: Collection<EventDefinitionRow>, appId: string): Promise<number> =>
  (await findIds(rows, { app_id: appId }, { hint: "name" })).length;

const newDefinition = ({ tenantId, appId, now }: Defining, name: string): EventDefinitionRow => ({
  _id: definitionIdOf(appId, name),
  tenant_id: tenantId,
  app_id: appId,
  name,
  display_name: null,
  is_conversion: false,
  outcome_unique: false,
  outcome_unattributed: true,
  retention_days: null,
  schema: "[]",
  counts: {},
  users: {},
  first_seen_at: now,
  last_seen_at: now,
  created_at: now,
  updated_at: now,
});

const countsOf = ({ row, days, former, lastSeenAt }: DefinitionChange): AnyBulkWriteOperation<EventDefinitionRow> => {
  const largest = Object.entries(days).flatMap(([day, { count, users }]) => [
    [`counts.${day}`, count],
    [`users.${day}`, users],
  ]);
  const $unset = Object.fromEntries(
    former.flatMap((day) => [`counts.${day}`, `users.${day}`]).map((path) => [path, ""]),
  );
  return {
    updateOne: {
      filter: { _id: row._id },
      update: {
        $max: { ...Object.fromEntries(largest), last_seen_at: lastSeenAt },
        ...(former.length > 0 && { $unset: $unset as Record<string, ""> }),
      },
    },
  };
};

/** What was seen of the properties of a name. */
export const schemaOf = ({ schema }: Pick<EventDefinitionRow, "schema">): PropertySchema[] =>
  JSON.parse(schema) as PropertySchema[]; // sound: written above
