import type { AppRow } from "#core/storage/apps/apps.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { audienceOf } from "../audience/audience.ts";
import type { estimate } from "../audience/estimate.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { judgedAt } from "./gates/audience.ts";

export type LeftOutDeps = { count: ReturnType<typeof estimate>; limit: NarrowLimit };

/**
 * Counts whom a message would have reached but for the segments that it excludes: by its segments and filter as they were
 * when it was accepted, among the people there are now. Null when they cannot all be looked at in time.
 * @throws AppError HS_RATE_LIMITED
 */
export const leftOut =
  ({ count, limit }: LeftOutDeps) =>
  async (app: AppRow, message: MessageRow): Promise<number | null> => {
    const { aim, target, channels, options } = message;
    if (aim === undefined || aim.excluded.length === 0) return 0;
    await limit("notifications.estimate", app._id); // it looks at people as an estimate does
    const audience = audienceOf(app, message, channels);
    const reached = (excluded: readonly string[]) =>
      count(audience, target, {
        aimed: { aim: { ...aim, excluded: [...excluded] }, at: judgedAt(message) },
        onePerUser: options.one_per_user === true,
      });
    const [all, kept] = await Promise.all([reached([]), reached(aim.excluded)]);
    const isExact = all.isUpperBound !== true && kept.isUpperBound !== true;
    return isExact ? Math.max(0, all.recipients - kept.recipients) : null;
  };
