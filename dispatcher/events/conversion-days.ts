import { dayOf } from "#core/domain/events/days.ts";
import {
  type ConversionDayRow,
  type ConversionDays,
  emptyConversionDay,
} from "#core/storage/events/conversion-days.ts";
import { dayIdOf, type HoursChange } from "#core/storage/events/event-days.ts";
import type { FoldChange } from "#core/storage/events/folding.ts";
import type { Made } from "./convert.ts";

/**
 * Counts conversions by the attribution and the hour of their events, each batch of these once: what a batch has made is read
 * from the store, and is the same each time. Source: docs/decisions/0185.
 */
export const countConversions =
  ({ days }: { days: Pick<ConversionDays, "add"> }) =>
  (made: readonly Made[]): Promise<void> =>
    days.add([...Map.groupBy(made, dayIdOfOne)].flatMap(([_id, of]) => dayOfConversions(_id, of)));

const dayIdOfOne = ({ conversion: { attribution, occurred_at: at }, event }: Made): string =>
  dayIdOf(`${event.definitionId} ${attribution}`, dayOf(at));

const dayOfConversions = (_id: string, made: readonly Made[]): FoldChange<ConversionDayRow, HoursChange>[] =>
  made.slice(0, 1).map(({ conversion }) => {
    const { tenant_id, app_id, event_name: name, attribution, occurred_at: at } = conversion;
    const begun_at = new Date(Math.min(...made.map((one) => one.conversion.created_at.getTime())));
    const byBatch = Map.groupBy(made, ({ event }) => event.row.batch);
    return {
      first: emptyConversionDay({ _id, tenant_id, app_id, name, day: dayOf(at), attribution, begun_at }),
      shares: [...byBatch].map(([batch, of]) => ({ batch, change: { hours: hoursOf(of) } })),
    };
  });

const hoursOf = (made: readonly Made[]): HoursChange["hours"] => {
  const hours = new Map<number, { count: number; sum: number }>();
  for (const { conversion } of made) {
    const hour = conversion.occurred_at.getUTCHours();
    const { count, sum } = hours.get(hour) ?? { count: 0, sum: 0 };
    hours.set(hour, { count: count + 1, sum: sum + conversion.value });
  }
  return hours;
};
