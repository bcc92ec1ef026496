import type { Clock } from "#core/domain/clock.ts";
import { dayOf } from "#core/domain/events/days.ts";
import type { EventBatch, ReceivedEvent } from "#core/domain/events/received.ts";
import { personKey } from "#core/domain/people/keys.ts";
import type { Directory } from "#core/storage/directory.ts";
import type { CountedBatches } from "#core/storage/events/counted.ts";
import { type Claim, type DayUsers, dayUserId } from "#core/storage/events/day-users.ts";
import { definitionIdOf } from "#core/storage/events/definitions.ts";
import type { EventRow, Events } from "#core/storage/events/events.ts";
import type { EventPeople } from "#core/storage/events/people.ts";

/** An event that was stored, with its properties. */
export type Stored = { row: EventRow; properties: ReceivedEvent["properties"]; definitionId: string };

/** What a batch is to be counted for: the events that it brought first, and people who were new on their day. */
export type StoredBatch = { key: string; events: Stored[]; newUsers: { definitionId: string; day: Date }[] };

export type StoreDeps = {
  directory: Pick<Directory, "app">;
  people: EventPeople;
  events: Pick<Events, "insert" | "batchesOf">;
  dayUsers: Pick<DayUsers, "claim">;
  counted: Pick<CountedBatches, "known">;
  clock: Clock;
};

/**
 * Stores the events of batches; null for a batch that was counted before. Done again with the same batch it gives the same.
 * Events of an app that is gone are left out.
 */
export const storeBatches =
  (deps: StoreDeps) =>
  async (batches: readonly EventBatch[]): Promise<(StoredBatch | null)[]> => {
    const done = await deps.counted.known(batches.map(({ key }) => key));
    const open = batches.filter(({ key }) => !done.has(key));
    const tenants = await tenantsOf(deps, open);
    await findPeople(deps, open, tenants);
    const all = firstOfEach(open.flatMap((batch) => storedOf(deps, batch, tenants)));
    const [own, claims] = await Promise.all([ownOf(deps, all), deps.dayUsers.claim(all.flatMap(claimOf))]);
    const events = Map.groupBy(own, ({ row }) => row.batch);
    const newUsers = Map.groupBy(claims, ({ batch }) => batch);
    return batches.map(({ key }) =>
      done.has(key) ? null : { key, events: events.get(key) ?? [], newUsers: newUsers.get(key) ?? [] },
    );
  };

/** The tenants of the apps that there are. */
const tenantsOf = async ({ directory }: StoreDeps, batches: readonly EventBatch[]): Promise<Map<string, string>> => {
  const ids = [...new Set(batches.flatMap(({ events }) => events.map(({ app_id: id }) => id)))];
  const found = await Promise.all(ids.map((id) => directory.app(id)));
  return new Map(found.flatMap((app) => (app === null ? [] : [[app._id, app.tenant_id]])));
};

const findPeople = async (
  { people }: StoreDeps,
  batches: readonly EventBatch[],
  tenants: ReadonlyMap<string, string>,
): Promise<void> => {
  const byApp = Map.groupBy(
    batches.flatMap(({ events }) => events),
    ({ app_id: id }) => id,
  );
  await people.load(
    [...byApp].flatMap(([appId, named]) => {
      const tenantId = tenants.get(appId);
      return tenantId === undefined ? [] : [{ tenantId, appId, named }];
    }),
  );
};

const storedOf = (
  { people }: StoreDeps,
  { key, events }: EventBatch,
  tenants: ReadonlyMap<string, string>,
): Stored[] => {
  const ids = new Map<string, string>(); // a definition's id is a hash
  return events.flatMap((event) => {
    const tenantId = tenants.get(event.app_id);
    if (tenantId === undefined) return [];
    const definitionId = ids.get(event.name) ?? definitionIdOf(event.app_id, event.name);
    ids.set(event.name, definitionId);
    const row = { ...rowOf(event, people), tenant_id: tenantId, batch: key };
    return [{ row, properties: event.properties, definitionId }];
  });
};

const rowOf = (event: ReceivedEvent, people: Pick<EventPeople, "find">): Omit<EventRow, "tenant_id" | "batch"> => {
  const user = people.find(event.app_id, event);
  const userId = event.user_id ?? user?.userId;
  const externalId = event.external_id ?? user?.externalId ?? null;
  const person = externalId === null ? (userId ?? event.subscription_id) : personKey("external_id", externalId);
  const hasProperties = Object.keys(event.properties).length > 0;
  return {
    _id: event.id,
    app_id: event.app_id,
    name: event.name,
    occurred_at: event.occurred_at,
    received_at: event.received_at,
    ...(person !== null && { person }),
    ...(userId !== undefined && { user_id: userId }),
    ...(externalId !== null && { external_id: externalId }),
    ...(event.subscription_id !== null && { subscription_id: event.subscription_id }),
    ...(hasProperties && { properties: JSON.stringify(event.properties) }),
    ...(event.value !== null && { value: event.value }),
    source: event.source,
  };
};

/** An event that two batches have is the first one's. */
const firstOfEach = (all: readonly Stored[]): Stored[] => [
  ...new Map(all.toReversed().map((one) => [one.row._id, one])).values(),
];

/** Those that are stored as their batch's own, now or when it came before. */
const ownOf = async ({ events, clock }: StoreDeps, all: readonly Stored[]): Promise<Stored[]> => {
  if (all.length === 0) return [];
  const stored_at = clock.now(); // before the first attempt: the windows of warehouse exports wait for the last one
  const others = await events.insert(all.map(({ row }) => ({ ...row, stored_at })));
  if (others.size === 0) return [...all];
  const owners = await events.batchesOf([...others]);
  return all.filter(({ row }) => !others.has(row._id) || owners.get(row._id) === row.batch);
};

const claimOf = ({ row, definitionId }: Stored): (Claim & { definitionId: string })[] => {
  const { person, batch, occurred_at: at } = row;
  if (person === undefined) return [];
  const day = dayOf(at);
  return [{ id: dayUserId({ definitionId, day, person }), batch, day, definitionId }];
};
