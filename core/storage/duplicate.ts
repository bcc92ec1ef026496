import { MongoServerError } from "mongodb";

/**
 * Whether a write failed because a unique index holds its key already: an answer, not an error. FerretDB 2.7 hands on
 * PostgreSQL's own sentence from findAndModify, with code 1.
 */
export const isDuplicateKey = (error: unknown): boolean =>
  error instanceof MongoServerError &&
  (error.code === 11_000 || /violates (?:exclusion|unique) constraint/.test(error.message));

const attempts = 5;

/**
 * Writes again when the store gave up two writers of one key that waited for each other: WriteConflict (112) of MongoDB,
 * a deadlock of PostgreSQL below FerretDB. Neither has written anything.
 */
export const retryConflicts = async <T>(write: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (attempt === attempts || !isWriteConflict(error)) throw error;
    }
  }
};

const isWriteConflict = (error: unknown): boolean =>
  error instanceof MongoServerError && (error.code === 112 || error.message.includes("deadlock detected"));
