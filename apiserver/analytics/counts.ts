import type { Cell, CellKey } from "#core/domain/analytics/quarters.ts";
import { type Add, quartersFor, spread } from "#core/domain/analytics/spread.ts";
import type { deliveryDays } from "#core/storage/analytics/delivery-days.ts";
import type { dueQuarters } from "#core/storage/analytics/due-quarters.ts";
import type { HourRange } from "#core/storage/analytics/event-sums.ts";
import type { oldestChange } from "#core/storage/analytics/quarter-counts.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import type { Question } from "./answers.ts";

export type CountsDeps = {
  days: Pick<ReturnType<typeof deliveryDays>, "list" | "first">;
  due: Pick<ReturnType<typeof dueQuarters>, "countedUntil">;
  oldestChange: ReturnType<typeof oldestChange>;
};

/** Quarters of a day that are read by their names; more are read whole. */
const mostNamed = 48;

/** Reads the counters of the intervals between bounds, in order. */
export const readCounts = async (
  { days }: Pick<CountsDeps, "days">,
  app: AppRow,
  bounds: readonly Date[],
  add: Add,
): Promise<void> => {
  const [from, to] = [bounds[0], bounds.at(-1)];
  if (from === undefined || to === undefined || from >= to) return;
  const quarters = quartersFor(bounds);
  spread(await days.list(ofApp(app), { from, to }, quarters.size > mostNamed ? "all" : quarters), bounds, add);
};

/** Members of every answer about deliveries. */
export const rangeMembers = async (
  { days, due, oldestChange: oldest }: CountsDeps,
  app: AppRow,
  { asked: { range, timezone, clamped, completeFrom }, now }: Pick<Question<unknown>, "asked" | "now">,
) => {
  const of = ofApp(app);
  const [until, counted, changed] = await Promise.all([due.countedUntil(of, range), days.first(of), oldest(of)]);
  const begun = counted ?? now;
  const isAllCounted = changed === null || changed >= begun; // what has changed since then was counted
  return {
    ...range,
    timezone,
    clamped,
    as_of: until ?? now,
    complete_from: isAllCounted || begun <= completeFrom ? completeFrom : begun,
  };
};

export const shownRange = ({ from, to }: HourRange) => ({ from: from.toISOString(), to: to.toISOString() });

export type CellFilter = {
  channel?: readonly CellKey["channel"][];
  source?: readonly CellKey["source"][];
  category?: string;
  campaign_id?: string;
  template_id?: string;
};

/** Whether deliveries are among those that a query asks for. */
export const isAsked = ({ channel, source, category, campaign_id, template_id }: CellFilter, cell: Cell): boolean =>
  (channel?.includes(cell.channel) ?? true) &&
  (source?.includes(cell.source) ?? true) &&
  (category === undefined || category === cell.category) &&
  (campaign_id === undefined || campaign_id === cell.campaign_id) &&
  (template_id === undefined || template_id === cell.template_id);
