import { AppError } from "#core/errors.ts";
import type { TakeFrom } from "./take-token.ts";

/** A limit of one operation on one thing. Source: decisions 9.7. */
export type NarrowLimit = (operation: string, id: string, perMinute: number) => Promise<void>;

const windowSeconds = 60;

/** Counts calls of an operation. @throws AppError HS_RATE_LIMITED once a minute's are used up; they come back one by one */
export const narrowLimit =
  (take: TakeFrom): NarrowLimit =>
  async (operation, id, perMinute) => {
    const state = await take(`limit:${operation}:${id}`, { capacity: perMinute, perSecond: perMinute / windowSeconds });
    if (state.isAllowed) return;
    throw new AppError("HS_RATE_LIMITED", `${operation} is allowed ${perMinute} times a minute`, {
      retry_after_seconds: state.resetSeconds,
      limit: perMinute,
      window_seconds: windowSeconds,
    });
  };
