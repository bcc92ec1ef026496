import { MongoServerError } from "mongodb";

/** Whether a write failed because a unique index holds its key already: an answer, not an error. */
export const isDuplicateKey = (error: unknown): boolean => error instanceof MongoServerError && error.code === 11_000;
