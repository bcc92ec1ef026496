import type { KeyValues } from "#core/domain/events/day-values.ts";
import { dateText, lastDays } from "#core/domain/events/days.ts";
import { mostFrequent } from "#core/domain/events/sketch.ts";
import { definitionLimits, EventDefinition, type EventDefinitionDetail } from "#core/schema/events/definition.ts";
import { showAs } from "#core/schema/json/show.ts";
import { type EventDefinitionRow, type ListedDefinition, schemaOf } from "#core/storage/events/definitions.ts";

/** The days that are shown, oldest first: asked for once for a whole list. */
export const shownDays = (now: Date): readonly string[] => lastDays(now, definitionLimits.days).map(dateText);

/** A definition as the REST interface shows it: every member, always. */
export const definitionView = (row: ListedDefinition, days: readonly string[]): EventDefinition =>
  showAs(EventDefinition, {
    ...row,
    id: row._id,
    properties_schema: Object.fromEntries(schemaOf(row).map(({ key, type }) => [key, type])),
    count_30d: days.reduce((sum, day) => sum + (row.counts[day] ?? 0), 0),
  });

/** The same with its counts by day and the values of the properties, each list of them of one day. */
export const definitionDetail = (
  row: EventDefinitionRow,
  values: readonly (readonly KeyValues[])[],
  days: readonly string[],
): EventDefinitionDetail => {
  const byKey = Map.groupBy(values.flat(), ({ key }) => key);
  return {
    ...definitionView(row, days),
    daily: days.map((date) => ({ date, count: row.counts[date] ?? 0, users: row.users[date] ?? 0 })),
    properties: schemaOf(row).map(({ key, type }) => ({ key, type, values: shownOf(byKey.get(key) ?? []) })),
  };
};

/** None of a property that was hidden on one of the days. */
const shownOf = (days: readonly KeyValues[]): EventDefinitionDetail["properties"][number]["values"] => {
  if (days.some(({ hidden }) => hidden === true)) return [];
  return mostFrequent(
    days.map((day) => day.values),
    definitionLimits.values,
  );
};
