import { Unavailable } from "../../errors.ts";
import { isUnreachable } from "../../storage/mongo/connect.ts";
import { isWriteConflict } from "../../storage/mongo/duplicate.ts";
import { isAway } from "./publish.ts";

/**
 * Whether the same work will succeed later, as a store is away or gave a write up for another's: it is no fault of the work.
 */
export const isPassing = (error: unknown): boolean =>
  error instanceof Unavailable || isUnreachable(error) || isWriteConflict(error) || isAway(error);

/** Whether several things that were written by one command are better written one by one: one is at fault, or in another's way. */
export const isOfOne = (error: unknown): boolean => isWriteConflict(error) || !isPassing(error);
