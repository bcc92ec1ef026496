import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { tallyOf, type ValueTally } from "#core/domain/events/day-values.ts";
import { dateText, dayOf, lastDays } from "#core/domain/events/days.ts";
import { schemaAfter } from "#core/domain/events/property-types.ts";
import { definitionLimits } from "#core/schema/events/definition.ts";
import type { CountedBatches } from "#core/storage/events/counted.ts";
import { type EventDefinitionRow, type EventDefinitions, schemaOf } from "#core/storage/events/definitions.ts";
import {
  type DayChange,
  dayIdOf,
  type EventDayRow,
  type EventDays,
  emptyDay,
} from "#core/storage/events/event-days.ts";
import { type EventValues, type EventValuesRow, emptyValues } from "#core/storage/events/event-values.ts";
import type { FoldChange } from "#core/storage/events/folding.ts";
import type { Stored, StoredBatch } from "./store.ts";

export type CountDeps = {
  definitions: Pick<EventDefinitions, "withIds" | "define" | "count" | "setSchema" | "find">;
  days: Pick<EventDays, "add">;
  values: Pick<EventValues, "add">;
  convert: (events: readonly Stored[], definitions: ReadonlyMap<string, EventDefinitionRow>) => Promise<void>;
  counted: Pick<CountedBatches, "add">;
  clock: Clock;
};

/**
 * Counts stored batches, each once: roll-ups of days first, then what definitions show of them, then conversions. A batch is
 * done when all of that is written. Events without a definition are kept, and not counted.
 */
export const countBatches =
  (deps: CountDeps) =>
  async (batches: readonly StoredBatch[]): Promise<void> => {
    const now = deps.clock.now();
    const events = batches.flatMap((batch) => batch.events);
    const definitions = await definitionsOf(deps, events, now);
    const parts = partsOf(batches, definitions);
    const [days] = await Promise.all([
      deps.days.add(parts.map(dayOfPart)),
      deps.values.add(parts.flatMap(valuesOfPart)),
    ]);
    await Promise.all([
      writeDefinitions(deps, { definitions, days, events, now }),
      writeSchemas(deps, definitions, events),
      deps.convert(events, definitions),
    ]);
    await deps.counted.add(
      batches.map(({ key }) => key),
      now,
    );
  };

const definitionsOf = async (
  { definitions }: CountDeps,
  events: readonly Stored[],
  now: Date,
): Promise<Map<string, EventDefinitionRow>> => {
  const ids = new Set(events.map(({ definitionId }) => definitionId));
  const there = await definitions.withIds([...ids]);
  for (const { _id } of there) ids.delete(_id);
  const missing = events.filter(({ definitionId }) => ids.has(definitionId));
  const byApp = Map.groupBy(missing, ({ row }) => row.app_id);
  const defined = await Promise.all(
    [...byApp].map(([appId, of]) => {
      const tenantId = of[0]?.row.tenant_id ?? "";
      return definitions.define(
        { tenantId, appId },
        of.map(({ row }) => row.name),
        now,
      );
    }),
  );
  return new Map([...there, ...defined.flat()].map((row) => [row._id, row]));
};

/** What all batches bring for one definition and day. */
type DayPart = {
  definition: EventDefinitionRow;
  day: Date;
  batches: Map<string, { events: Stored[]; users: number }>;
};

const partsOf = (batches: readonly StoredBatch[], definitions: ReadonlyMap<string, EventDefinitionRow>): DayPart[] => {
  const parts = new Map<string, DayPart>();
  const of = (key: string, definitionId: string, day: Date) => {
    const definition = definitions.get(definitionId);
    if (definition === undefined) return undefined;
    const place = `${definitionId} ${day.getTime()}`;
    const part = parts.get(place) ?? { definition, day, batches: new Map() };
    parts.set(place, part);
    const share = part.batches.get(key) ?? { events: [], users: 0 };
    part.batches.set(key, share);
    return share;
  };
  for (const { key, events, newUsers } of batches) {
    for (const event of events) of(key, event.definitionId, dayOf(event.row.occurred_at))?.events.push(event);
    for (const { definitionId, day } of newUsers) {
      const share = of(key, definitionId, day);
      if (share !== undefined) share.users++;
    }
  }
  return [...parts.values()];
};

const ofPart = ({ definition, day }: DayPart) => ({
  _id: dayIdOf(definition._id, day),
  tenant_id: definition.tenant_id,
  app_id: definition.app_id,
  name: definition.name,
  day,
});

const dayOfPart = (part: DayPart): FoldChange<EventDayRow, DayChange> => ({
  first: emptyDay(ofPart(part)),
  shares: [...part.batches].map(([batch, { events, users }]) => ({ batch, change: { hours: hoursOf(events), users } })),
});

const hoursOf = (events: readonly Stored[]): DayChange["hours"] => {
  const hours = new Map<number, { count: number; sum: number }>();
  for (const { row } of events) {
    const hour = row.occurred_at.getUTCHours();
    const { count, sum } = hours.get(hour) ?? { count: 0, sum: 0 };
    hours.set(hour, { count: count + 1, sum: sum + (row.value ?? 0) });
  }
  return hours;
};

/** Nothing, when no property has a value that is counted. */
const valuesOfPart = (part: DayPart): FoldChange<EventValuesRow, ValueTally>[] => {
  const shares = [...part.batches].flatMap(([batch, { events }]) => {
    const change = tallyOf(events.map(({ properties }) => properties));
    return change.counts.size + change.hidden.size === 0 ? [] : [{ batch, change }];
  });
  return shares.length === 0 ? [] : [{ first: emptyValues(ofPart(part)), shares }];
};

type Written = {
  definitions: ReadonlyMap<string, EventDefinitionRow>;
  days: readonly EventDayRow[];
  events: readonly Stored[];
  now: Date;
};

const writeDefinitions = async (deps: CountDeps, { definitions, days, events, now }: Written): Promise<void> => {
  const shown = new Set(lastDays(new Date(now.getTime() + dayMs), definitionLimits.days + 2).map(dateText)); // one more on both sides: clocks differ
  const byName = Map.groupBy(days, ({ app_id, name }) => `${app_id} ${name}`);
  const latest = new Map<string, Date>();
  for (const { row, definitionId } of events)
    if (row.received_at > (latest.get(definitionId) ?? new Date(0))) latest.set(definitionId, row.received_at);
  const changes = [...definitions.values()].map((row) => {
    const ofName = byName.get(`${row.app_id} ${row.name}`) ?? [];
    const counts = ofName.map(({ day, count, users }) => [dateText(day), { count, users }] as const);
    return {
      row,
      days: Object.fromEntries(counts.filter(([date]) => shown.has(date))),
      former: Object.keys(row.counts).filter((date) => !shown.has(date)),
      lastSeenAt: latest.get(row._id) ?? row.last_seen_at,
    };
  });
  await deps.definitions.count(changes);
};

const attempts = 5; // each lost to another process that found another property

/** Properties that were never seen, or never like this: as a rule there are none. */
const writeSchemas = async (
  deps: CountDeps,
  definitions: ReadonlyMap<string, EventDefinitionRow>,
  events: readonly Stored[],
): Promise<void> => {
  const byDefinition = Map.groupBy(events, ({ definitionId }) => definitionId);
  await Promise.all(
    [...definitions.values()].map((row) =>
      writeSchema(
        deps,
        row,
        (byDefinition.get(row._id) ?? []).map(({ properties }) => properties),
      ),
    ),
  );
};

const writeSchema = async (
  { definitions }: CountDeps,
  found: EventDefinitionRow,
  properties: readonly Stored["properties"][],
): Promise<void> => {
  let row: EventDefinitionRow | null = found;
  for (let attempt = 0; row !== null && attempt < attempts; attempt++) {
    const before = schemaOf(row);
    const schema = schemaAfter(before, properties);
    if (schema === before || (await definitions.setSchema(row, schema))) return;
    row = await definitions.find({ tenantId: row.tenant_id, appId: row.app_id }, row.name);
  }
};
