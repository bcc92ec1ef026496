import type { KeyValues } from "#core/domain/events/day-values.ts";
import { lastDays } from "#core/domain/events/days.ts";
import { mostFrequent } from "#core/domain/events/sketch.ts";
import { definitionLimits, EventDefinition, type EventDefinitionDetail } from "#core/schema/events/definition.ts";
import { showAs } from "#core/schema/json/show.ts";
import { countsOfDays, type EventDefinitionRow } from "#core/storage/events/definitions.ts";

/** A definition as the REST interface shows it: every member, always. */
export const definitionView = (row: EventDefinitionRow, now: Date): EventDefinition => {
  const daily = countsOfDays(row, lastDays(now, definitionLimits.days));
  return showAs(EventDefinition, {
    ...row,
    id: row._id,
    properties_schema: Object.fromEntries(row.schema.map(({ key, type }) => [key, type])),
    count_30d: daily.reduce((sum, { count }) => sum + count, 0),
  });
};

/** The same with its counts by day and the values of the properties, each list of them of one day. */
export const definitionDetail = (
  row: EventDefinitionRow,
  values: readonly (readonly KeyValues[])[],
  now: Date,
): EventDefinitionDetail => {
  const byKey = Map.groupBy(values.flat(), ({ key }) => key);
  return {
    ...definitionView(row, now),
    daily: countsOfDays(row, lastDays(now, definitionLimits.days)),
    properties: row.schema.map(({ key, type }) => ({ key, type, values: shownOf(byKey.get(key) ?? []) })),
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
