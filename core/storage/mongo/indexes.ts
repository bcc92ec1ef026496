import { type Db, type IndexDescription, type IndexDescriptionInfo, MongoServerError } from "mongodb";
import { mapBounded } from "../../runtime/batching/bounded.ts";
import type { CollectionSpec } from "./collection.ts";

type Indexed = Pick<CollectionSpec, "name" | "indexes" | "former">;

/**
 * Creates the indexes that are missing, drops those of earlier releases that would be in the way, then reads them all
 * back: a program must not start on a database where a unique index is missing, or other than its source says.
 * @throws IndexError naming every index that differs
 */
export const indexesAsDeclared = async (db: Db, specs: readonly Indexed[]): Promise<void> => {
  const indexed = specs.filter(({ indexes }) => indexes.length > 0);
  const faults = await mapBounded(indexed, atOnce, (spec) => ensure(db, spec));
  if (faults.flat().length > 0) throw new IndexError(faults.flat());
};

const atOnce = 4; // each more would open a connection, which costs as much as several looks

/** Most starts find all indexes as they are to be, and need only look. */
const ensure = async (db: Db, spec: Indexed): Promise<string[]> => {
  const found = await indexesOf(db, spec.name);
  const isAsWanted = differences(found, spec).length === 0;
  if (!isAsWanted) await createIndexes(db, spec);
  for (const former of spec.former ?? []) if (found.some(({ name }) => name === former)) await drop(db, spec, former);
  return isAsWanted ? [] : differences(await indexesOf(db, spec.name), spec);
};

/** Indexes that are not what the source says; dropping them lets the next start make them anew. */
export class IndexError extends Error {
  constructor(faults: readonly string[]) {
    super(`indexes differ from their source: ${faults.join("; ")}`);
    this.name = "IndexError";
  }
}

const createIndexes = async (db: Db, { name, indexes }: Indexed): Promise<void> => {
  try {
    await db.collection(name).createIndexes([...indexes]);
  } catch (error) {
    if (!isConflict(error)) throw error; // a conflict is reported by the comparison, with names
  }
};

const drop = async (db: Db, { name }: Indexed, index: string): Promise<void> => {
  try {
    await db.collection(name).dropIndex(index);
  } catch (error) {
    if (!(error instanceof MongoServerError && error.code === 27)) throw error; // IndexNotFound: another was quicker
  }
};

const isConflict = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === 85 || error.code === 86); // IndexOptionsConflict, IndexKeySpecsConflict

const differences = (found: readonly IndexDescriptionInfo[], { name, indexes }: Indexed): string[] => {
  const byName = new Map(found.map((index) => [index.name, index]));
  return indexes.flatMap((wanted) => {
    const actual = byName.get(wanted.name ?? "");
    if (actual === undefined) return [`${name}.${wanted.name} is missing`];
    return shape(wanted) === shape(actual) ? [] : [`${name}.${wanted.name} is ${shape(actual)}, not ${shape(wanted)}`];
  });
};

/** None of a collection that is not there yet. */
const indexesOf = async (db: Db, name: string): Promise<IndexDescriptionInfo[]> => {
  try {
    return await db.collection(name).indexes();
  } catch (error) {
    if (error instanceof MongoServerError && error.code === 26) return []; // NamespaceNotFound
    throw error;
  }
};

/** What of an index decides which queries and which uniqueness it serves. */
const shape = (index: IndexDescription | IndexDescriptionInfo): string =>
  JSON.stringify({
    key: Object.entries(index.key).map(([field, order]) => [field, Number(order)]),
    unique: index.unique ?? false,
    partial: index.partialFilterExpression ?? null,
    expireAfterSeconds: index.expireAfterSeconds ?? null,
  });
