import type { KeyValues } from "#core/domain/events/day-values.ts";
import { dateText, lastDays } from "#core/domain/events/days.ts";
import { mostFrequent } from "#core/domain/events/sketch.ts";
import { definitionLimits, EventDefinition, type EventDefinitionDetail } from "#core/schema/events/definition.ts";
import { showAs } from "#core/schema/json/show.ts";
import { type EventDefinitionRow, type ListedDefinition, schemaOf } from "#core/storage/events/definitions.ts";

/** A definition as the REST interface shows it: every member, always. */
export const definitionView = (row: ListedDefinition, now: Date): EventDefinition =>
  showAs(EventDefinition, {
    ...row,
    id: row._id,
    properties_schema: Object.fromEntries(schemaOf(row).map(({ key, type }) => [key, type])),
    count_30d: lastDays(now, definitionLimits.days).reduce((sum, day) => sum + (row.counts[dateText(day)] ?? 0), 0),
  });

/** The same with its counts by day and the values of the properties, each list of them of one day. */
export const definitionDetail = (
  row: EventDefinitionRow,
  values: readonly (readonly KeyValues[])[],
  now: Date,
): EventDefinitionDetail => {
  const byKey = Map.groupBy(values.flat(), ({ key }) => key);
  return {
    ...definitionView(row, now),
    daily: lastDays(now, definitionLimits.days).map((day) => dailyOf(row, dateText(day))),
    properties: schemaOf(row).map(({ key, type }) => ({ key, type, values: shownOf(byKey.get(key) ?? []) })),
  };
};

const dailyOf = ({ counts, users }: EventDefinitionRow, date: string): EventDefinitionDetail["daily"][number] => ({
  date,
  count: counts[date] ?? 0,
  users: users[date] ?? 0,
});

/** None of a property that was hidden on one of the days. */
const shownOf = (days: readonly KeyValues[]): EventDefinitionDetail["properties"][number]["values"] => {
  if (days.some(({ hidden }) => hidden === true)) return [];
  return mostFrequent(
    days.map((day) => day.values),
    definitionLimits.values,
  );
};
