import { Unavailable } from "../../errors.ts";
import { isUnreachable } from "../../storage/mongo/connect.ts";
import { isAway } from "./publish.ts";

/** Whether an error says that a store is away, so that the same work will succeed later: it is no fault of the work. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Unavailable || isUnreachable(error) || isAway(error);

/** Whether an error may be the fault of one of several things that were written by one command. */
export const isOfOne = (error: unknown): boolean => !isPassing(error);
