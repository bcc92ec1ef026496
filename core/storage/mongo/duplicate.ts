import { setTimeout as sleep } from "node:timers/promises";
import {
  type Collection,
  type Document,
  MongoBulkWriteError,
  MongoServerError,
  type OptionalUnlessRequiredId,
} from "mongodb";

const duplicateKey = 11_000;

/**
 * Whether a write failed because its key is in a unique index already: an answer, not an error. FerretDB 2.7 hands on
 * PostgreSQL's own sentence from findAndModify, with code 1.
 */
export const isDuplicateKey = (error: unknown): boolean =>
  error instanceof MongoServerError &&
  (error.code === duplicateKey || /violates (?:exclusion|unique) constraint/.test(error.message));

/** What a write gives, or `taken` when its key is in a unique index already. */
export const unlessTaken = async <T, Taken>(write: () => Promise<T>, taken: Taken): Promise<T | Taken> => {
  try {
    return await write();
  } catch (error) {
    if (isDuplicateKey(error)) return taken;
    throw error;
  }
};

/**
 * Stores a document; false when its key is in a unique index already. Inserters of one key may conflict in the store,
 * which gives up one of them: that one tries again.
 */
export const insertNew = async <Row extends Document>(
  rows: Collection<Row>,
  row: OptionalUnlessRequiredId<Row>,
): Promise<boolean> => (await unlessTaken(() => retryConflicts(() => rows.insertOne(row)), null)) !== null;

/**
 * Ids of the documents that an unordered insert did not store because they were there: it reports each duplicate and
 * stores the rest. Any other write error is a real one, and is thrown.
 */
export const duplicatesOf = (error: unknown, made: readonly { _id: string }[]): Set<string> => {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const failures = [error.writeErrors].flat();
  if (failures.length === 0 || failures.some((failure) => failure.code !== duplicateKey)) throw error;
  return new Set(failures.flatMap((failure) => made[failure.index]?._id ?? []));
};

/** Stores those that are new; gives the ids of the others. */
export const insertMissing = async <Row extends Document & { _id: string }>(
  rows: Collection<Row>,
  made: readonly Row[],
): Promise<Set<string>> => {
  try {
    await rows.insertMany([...made] as OptionalUnlessRequiredId<Row>[], { ordered: false }); // sound: each has its id
    return new Set();
  } catch (error) {
    return duplicatesOf(error, made);
  }
};

/**
 * Those of a bulk's changes, one of each operation, that the store refused one by one (another made the same document at
 * the same moment): they may be written again.
 * @throws the error, when it concerns all of them
 */
export const refusedOf = <T>(changes: readonly T[], error: unknown): T[] => {
  const refused = error instanceof MongoBulkWriteError ? [error.writeErrors].flat() : [];
  if (refused.length === 0) throw error;
  return refused.flatMap(({ index }) => changes[index] ?? []);
};

/**
 * Writes in the order of their ids: whoever changes some of the same documents at the same moment waits then, instead of each for
 * the other until PostgreSQL below FerretDB looks for a deadlock, after a second, and gives one of them up.
 */
export const inLockOrder = <T>(writes: readonly T[], idOf: (write: T) => string): T[] =>
  writes.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));

const attempts = 8;
const pauseMs = 50; // before the second attempt; twice as long before each further one

/** Runs writes of one key one after another; those of other keys do not wait. */
export type OneWriter = <T>(key: string, write: () => Promise<T>) => Promise<T>;

/**
 * Writers of one key in this process wait for each other here, because in the store they would wait longer: PostgreSQL
 * below FerretDB lets inserters of one unique key block each other until it has looked for a deadlock, a second for each
 * of them.
 */
export const oneWriter = (): OneWriter => {
  const last = new Map<string, Promise<unknown>>(); // keys that are being written, each with its last writer
  return async (key, write) => {
    const before = last.get(key);
    const mine = (before ?? Promise.resolve()).then(() => retryConflicts(write));
    const ended = mine.catch(() => undefined);
    last.set(key, ended);
    try {
      return await mine;
    } finally {
      if (last.get(key) === ended) last.delete(key);
    }
  };
};

/**
 * Makes a write again that the store gave up. Writers of other processes meet the same conflict: chance sets them apart, the
 * further the more often they met.
 * A bulk is made again as a whole: what it had written has to be a duplicate then, or guarded.
 */
export const retryConflicts = async <T>(
  write: () => Promise<T>,
  pause: (ms: number) => Promise<unknown> = sleep,
): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (attempt === attempts || !isWriteConflict(error)) throw error;
    }
    await pause(pauseMs * 2 ** (attempt - 1) * (0.5 + Math.random()));
  }
};

/** Whether the store gave a write up, or one of a bulk: that has written nothing, and may be made again. */
export const isWriteConflict = (error: unknown): boolean =>
  error instanceof MongoServerError && (isGivenUp(error) || failuresOf(error).some(isGivenUp));

/** WriteConflict (112) of MongoDB, a deadlock of PostgreSQL below FerretDB. */
const isGivenUp = ({ code, message }: { code?: string | number | undefined; message: string }): boolean =>
  code === 112 || message.includes("deadlock detected");

/** The writes of a bulk that failed. */
const failuresOf = (error: MongoServerError): { code: number; message: string }[] =>
  error instanceof MongoBulkWriteError
    ? [error.writeErrors].flat().map(({ code, errmsg = "" }) => ({ code, message: errmsg }))
    : [];
