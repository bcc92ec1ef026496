import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { invalid } from "#core/errors.ts";
import { analyticsLimits } from "#core/schema/analytics/query.ts";
import { Recount, type RecountRange } from "#core/schema/analytics/recount.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { dueQuarters } from "#core/storage/analytics/due-quarters.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { rangeOf } from "./range.ts";

export type RecountDeps = {
  due: Pick<ReturnType<typeof dueQuarters>, "recount">;
  limit: NarrowLimit;
  clock: Clock;
};

/** Has deliveries of a range counted again, which changes no number unless one was wrong. Source: docs/reference/analytics.md#recount. */
export const recount =
  ({ due, limit, clock }: RecountDeps) =>
  async (app: AppRow, asked: RecountRange): Promise<Recount> => {
    await limit("analytics.recount", app._id);
    const range = rangeOf(asked, clock.now(), "quarter");
    if (range.to.getTime() - range.from.getTime() > analyticsLimits.recountDays * dayMs)
      throw invalid("to", `must be at most ${analyticsLimits.recountDays} days after from`, {
        limit: analyticsLimits.recountDays,
      });
    const quarters = await due.recount(ofApp(app), range);
    return showAs(Recount, { ...range, quarters, asked_at: clock.now() });
  };
