import type { Db, Document, Sort } from "mongodb";
import { allCollections } from "#core/storage/collections.ts";
import { until } from "../until.ts";
import type { RecordedQuery } from "./record-queries.ts";

const sharedBy = 50; // documents that are alike in what is not unique

/**
 * Fills every collection that holds something with copies of what is there, each with ids of its own: with so many
 * that the planner thinks that reading them all is dear.
 */
export const fill = async (db: Db, rowsEach: number): Promise<void> => {
  for (const { name } of allCollections) {
    const rows = db.collection<Document & { _id: string }>(name);
    const [sample] = await rows.find().limit(1).toArray();
    if (sample === undefined) continue;
    const copies = Array.from({ length: rowsEach }, (_, i) => copyOf(sample, i));
    await rows.insertMany(copies);
  }
};

/** Members of which each document has a value of its own: their indexes are unique. */
const own = new Set([
  "_id",
  "token",
  "alias_keys",
  "idempotency_key",
  "hash",
  "namespaces",
  "name",
  "subject",
  "event_id",
  "place",
]);
/** Members that many documents share. */
const shared = new Set(
  "app_id tenant_id message_id user_id endpoint_id parent_id uid plan collapse_key collapse_keys activity type_id conversation_id subscription_id".split(
    " ",
  ),
);

const copyOf = <T>(value: T, i: number, key = ""): T => {
  const isWaiting = value instanceof Date || (value === null && i % sharedBy === 0); // some wait, even when the sample does not
  if (isWaiting && key === "due_at") return new Date(Date.now() + i * 1_000) as T; // few are due at once
  if (typeof value === "string" && own.has(key)) return `${value}_${i}` as T; // a string stays one; no other sample ends so
  if (typeof value === "string" && shared.has(key)) return `${value}${Math.floor(i / sharedBy)}` as T;
  if (Array.isArray(value)) return value.map((one: unknown) => copyOf(one, i, key)) as T; // a list stays one
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member, i, name)])) as T;
};

/** A query that the server would answer by reading more than an index gives it. */
export type QueryFault = { query: RecordedQuery; plan: Plan };

/** A query that may, and why. */
export type QueryException = { of: (query: RecordedQuery) => boolean; because: string };

/**
 * PostgreSQL looks every minute for tables that have grown, and then reads them, three at a time; until then it plans for
 * the few rows it saw last.
 */
const statisticsMs = 180_000;

/** Queries that read or sort more than they should, also when the server knows how much there is. */
export const faultsOf = async (
  db: Db,
  queries: readonly RecordedQuery[],
  exceptions: readonly QueryException[],
): Promise<QueryFault[]> => {
  let faults = await faultsNow(
    db,
    queries.filter((query) => !exceptions.some(({ of }) => of(query))),
  );
  const areNone = async () => {
    const asked = faults.map(({ query }) => query);
    faults = await faultsNow(db, asked);
    return faults.length === 0;
  };
  if (faults.length > 0) await until(areNone, statisticsMs, 1_000).catch(() => undefined); // the caller tells of what is left
  return faults;
};

const faultsNow = async (db: Db, queries: readonly RecordedQuery[]): Promise<QueryFault[]> => {
  const faults: QueryFault[] = [];
  for (const query of queries) {
    const plan = await planOf(db, query);
    if (plan.scans.length > 0 || plan.sorts) faults.push({ query, plan });
  }
  return faults;
};

/** What an explained query would make the server do. */
export type Plan = {
  /** Collections that it reads from end to end: without an index, or along one without a bound. */
  scans: string[];
  /** Whether it sorts documents that come in another order. */
  sorts: boolean;
};

/** Asks the server how it would run a query. A change is asked for as the search for what it changes. */
export const planOf = async (db: Db, query: RecordedQuery): Promise<Plan> => {
  const nodes: PlanNode[] = [];
  collect(await explain(db, query), nodes);
  return {
    scans: nodes.filter(isScan).map((node) => [node["Node Type"], node["Index Name"]].join(" ").trim()),
    sorts: nodes.some((node) => node["Node Type"] === "Sort" && node["Sort Key"]?.join().includes("bson_orderby")),
  };
};

const explain = (db: Db, { collection, filter, hint, sort, limit, pipeline }: RecordedQuery): Promise<Document> => {
  const rows = db.collection(collection);
  const hinted = hint === undefined ? {} : { hint };
  if (pipeline) return rows.aggregate(pipeline, hinted).explain("queryPlanner");
  const cursor = rows.find(filter ?? {}, hinted);
  if (sort) cursor.sort(sort as Sort); // it was sent as one
  if (limit) cursor.limit(limit);
  return cursor.explain("queryPlanner");
};

/** What PostgreSQL says of a step of its plan, which DocumentDB's answer holds. */
type PlanNode = Partial<Record<"Node Type" | "Relation Name" | "Index Name" | "Index Cond", string>> & {
  "Sort Key"?: string[];
};

const collect = (value: unknown, into: PlanNode[]): void => {
  if (typeof value !== "object" || value === null) return;
  if ("Node Type" in value) into.push(value as PlanNode); // PostgreSQL names them so
  for (const member of Object.values(value)) collect(member, into);
};

/** The index of ids begins with the shard's key, which is the same for all: a condition on it alone bounds nothing. */
const isScan = (node: PlanNode): boolean =>
  node["Relation Name"] !== undefined &&
  (node["Node Type"]?.includes("Index") !== true || !/object_id|document/.test(node["Index Cond"] ?? ""));
