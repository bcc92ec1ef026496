import { type Sharding, shardings } from "#core/storage/sharding.ts";
import type { RecordedQuery } from "./record-queries.ts";

/** What recorded queries and the shard keys say of one another. */
export type ShardFaults = {
  /** Queries that all shards would be asked and that no reason is given for. */
  unexplained: RecordedQuery[];
  /** Reasons for queries that nobody makes: `collection: member`. */
  unneeded: string[];
  /** Inserts by an update whose filter does not say which shard they belong to. */
  misplaced: RecordedQuery[];
};

/** Compares what was asked with core/storage/sharding.ts. */
export const shardFaults = (queries: readonly RecordedQuery[]): ShardFaults => {
  const faults: ShardFaults = { unexplained: [], unneeded: [], misplaced: [] };
  for (const sharding of shardings) {
    const ofIt = queries.filter(({ collection }) => collection === sharding.collection.name);
    const scattered = ofIt.filter((query) => !isTargeted(query, sharding));
    const used = new Set<string>();
    for (const query of scattered) {
      const asked = conditionsOf(query);
      const reason = sharding.scattered.find(({ by }) => asked.has(by));
      if (reason === undefined) faults.unexplained.push(query);
      else used.add(reason.by);
    }
    faults.misplaced.push(...scattered.filter(({ isUpsert }) => isUpsert === true));
    const unused = sharding.scattered.filter(({ by }) => !used.has(by));
    faults.unneeded.push(...unused.map(({ by }) => `${sharding.collection.name}: ${by}`));
  }
  return faults;
};

/** Whether the values of the shard key are given: one, or some of them. */
const isTargeted = (query: RecordedQuery, { key }: Sharding): boolean => {
  const value = conditionsOf(query).get(key === "app_id" ? key : key.hashed);
  if (value === undefined || value === null) return false;
  const ops = typeof value === "object" ? Object.keys(value) : [];
  return (
    typeof value !== "object" || ops.includes("$in") || ops.includes("$eq") || ops.every((op) => !op.startsWith("$"))
  );
};

/** The members that a query has conditions on that must all hold, with the condition. */
const conditionsOf = ({ filter, pipeline }: RecordedQuery): Map<string, unknown> => {
  const conditions = new Map<string, unknown>();
  const collect = (of: object): void => {
    for (const [member, condition] of Object.entries(of)) {
      if (member === "$and") for (const part of condition as object[]) collect(part);
      else if (!member.startsWith("$")) conditions.set(member, condition);
    }
  };
  const [first] = pipeline ?? [];
  collect(filter ?? (first !== undefined && "$match" in first ? (first.$match as object) : {}));
  return conditions;
};
