import { dateText, lastDays } from "#core/domain/events/days.ts";
import { mostTracked } from "#core/domain/events/sketch.ts";
import {
  definitionIdOf,
  type EventDefinitionRow,
  eventDefinitionCollection,
} from "#core/storage/events/definitions.ts";
import { dayIdOf } from "#core/storage/events/event-days.ts";
import { type EventValuesRow, eventValuesCollection } from "#core/storage/events/event-values.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import type { Reach } from "../figures/figure.ts";
import type { Measurement } from "../measure-all.ts";
import { startPrograms } from "../programs.ts";

const whole = { names: 500, days: 31, keys: 10, reads: 200, events: 10_000_000 };
const short: typeof whole = { ...whole, names: 20, reads: 5 };

/** The list and the detail, of roll-ups as millions of events leave them behind. */
export const measureDefinitions =
  ({ reach }: { reach: Reach }): Measurement =>
  ({ isShort, withInstallation }, tell) =>
    withInstallation(async ({ system, stores }) => {
      const size = isShort ? short : whole;
      await seedRollUps(system, size);
      const { apiserver } = await startPrograms({ system, stores }, 1);
      const read = (path: string) => p95Of(system, apiserver, path, size.reads);
      await read("");
      const list = await read("");
      const detail = await read("/event_0007");
      const how = `${size.reads} one after another; each name with ${size.days} days of ${size.keys} properties with ${mostTracked} values`;
      const common = { reach, unit: "ms" };
      tell(
        { ...common, name: `event definitions, list of ${size.names} names, p95`, value: list, how },
        { ...common, name: `event definition of ${size.events} events, p95`, value: detail, how },
      );
    });

const seedRollUps = async ({ db, app }: System, size: typeof whole): Promise<void> => {
  const now = new Date();
  const names = Array.from({ length: size.names }, (_, n) => `event_${String(n).padStart(4, "0")}`);
  const definitions = names.map((name) => aDefinition({ tenant_id: app.tenant_id, app_id: app._id, name }, size, now));
  await db.collection<EventDefinitionRow>(eventDefinitionCollection.name).insertMany(definitions);
  const values = db.collection<EventValuesRow>(eventValuesCollection.name);
  for (const row of definitions.slice(0, 20)) await values.insertMany(valuesOf(row, size, now));
};

const aDefinition = (
  of: Pick<EventDefinitionRow, "tenant_id" | "app_id" | "name">,
  { days, keys, events }: typeof whole,
  now: Date,
): EventDefinitionRow => ({
  ...of,
  _id: definitionIdOf(of.app_id, of.name),
  display_name: null,
  is_conversion: false,
  outcome_unique: false,
  outcome_unattributed: true,
  retention_days: null,
  schema: JSON.stringify(Array.from({ length: keys }, (_, n) => ({ key: `key_${n}`, type: "string" }))),
  counts: Object.fromEntries(lastDays(now, days).map((day) => [dateText(day), Math.floor(events / days)])),
  users: Object.fromEntries(lastDays(now, days).map((day) => [dateText(day), 100_000])),
  first_seen_at: now,
  last_seen_at: now,
  created_at: now,
  updated_at: now,
});

const valuesOf = (
  { _id, tenant_id, app_id, name }: EventDefinitionRow,
  { days, keys }: typeof whole,
  now: Date,
): EventValuesRow[] =>
  lastDays(now, days).map((day) => ({
    _id: dayIdOf(_id, day),
    tenant_id,
    app_id,
    name,
    day,
    keys: JSON.stringify(
      Array.from({ length: keys }, (_, n) => ({
        key: `key_${n}`,
        values: Array.from({ length: mostTracked }, (__, v) => ({ value: `value ${v}`, count: 1_000 + v, error: 0 })),
      })),
    ),
    revision: 1,
    batches: [],
  }));

const p95Of = async ({ app, token }: System, { url }: SystemProgram, path: string, reads: number): Promise<number> => {
  const tookMs: number[] = [];
  for (let n = 0; n < reads; n++) {
    const startedMs = performance.now();
    const address = `${url}/v1/apps/${app._id}/events/definitions${path}`;
    const reply = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
    const text = await reply.text();
    tookMs.push(performance.now() - startedMs);
    if (reply.status !== 200) throw new Error(`${reply.status}: ${text}`);
  }
  return tookMs.toSorted((a, b) => a - b)[Math.floor(reads * 0.95)] ?? Number.NaN;
};
