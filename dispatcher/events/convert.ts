import { ownCallback, ownProvider } from "#core/channels/kit/own-receipts.ts";
import type { Clock } from "#core/domain/clock.ts";
import {
  type Attribution,
  attribute,
  longestWindowMs,
  type Outcomes,
  type Touch,
} from "#core/domain/events/attribution.ts";
import { dateText, dayOf } from "#core/domain/events/days.ts";
import { makeEvent } from "#core/domain/events/make.ts";
import { derivedId } from "#core/domain/ids.ts";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import { Unavailable } from "#core/errors.ts";
import type { CallbackQueue } from "#core/queue/callbacks.ts";
import type { EventPublisher } from "#core/queue/events.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { customEvents } from "#core/schema/events/people.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { ConversionRow, Conversions } from "#core/storage/events/conversions.ts";
import type { EventDefinitionRow } from "#core/storage/events/definitions.ts";
import type { Touches } from "#core/storage/messages/touches.ts";
import type { Stored } from "./store.ts";

export type ConvertDeps = {
  touches: Touches;
  /** Notes at deliveries whose effect is measured who converted. */
  follow: (events: readonly Stored[]) => Promise<void>;
  conversions: Conversions;
  /** What the app says of them. */
  outcomesOf: (appId: string) => Promise<Outcomes>;
  /** Takes receipts of our own, by which deliveries and messages count. */
  callbacks: CallbackQueue;
  publisher: Pick<EventPublisher, "publish">;
  count: (attribution: Attribution["kind"], conversions: number) => void;
  /** Counts what the events of a batch have made, once. */
  countDays: (made: readonly Made[]) => Promise<void>;
  clock: Clock;
};

type Definitions = ReadonlyMap<string, EventDefinitionRow>;

/** A conversion, with the event that made it. */
export type Made = { conversion: ConversionRow; event: Stored };

/**
 * Makes the conversions of events: stored first, then told, counted at their messages and by the hour. Done again with the same events
 * it finds what it stored, and tells the same. Source: docs/reference/events.md#conversions.
 * @throws Unavailable when not all could be told: do it again
 */
export const convertEvents =
  (deps: ConvertDeps) =>
  async (events: readonly Stored[], definitions: Definitions): Promise<void> => {
    const counting = events.filter(({ definitionId }) => definitions.get(definitionId)?.is_conversion === true);
    const inOrder = counting.toSorted((a, b) => a.row.occurred_at.getTime() - b.row.occurred_at.getTime());
    const made: ConversionRow[] = [];
    for (let from = 0; from < inOrder.length; from += page)
      made.push(...(await convertPage(deps, inOrder.slice(from, from + page), definitions)));
    await deps.countDays(withEvents(made, inOrder));
  };

const withEvents = (made: readonly ConversionRow[], events: readonly Stored[]): Made[] => {
  const byId = new Map(events.map((event) => [event.row._id, event]));
  return made.flatMap((conversion) => {
    const event = byId.get(conversion.event_id);
    return event === undefined ? [] : [{ conversion, event }];
  });
};

const page = 500; // events of about one time, so that the deliveries before them are, too

/** Gives all that these events have made, now or before. */
const convertPage = async (
  deps: ConvertDeps,
  events: readonly Stored[],
  definitions: Definitions,
): Promise<ConversionRow[]> => {
  const before = await deps.conversions.ofEvents(events.map(({ row }) => ({ app_id: row.app_id, event_id: row._id })));
  const known = new Set(before.map(({ event_id: id }) => id));
  const fresh = events.filter(({ row }) => !known.has(row._id));
  await deps.follow(fresh);
  const made = (await attributed(deps, fresh)).flatMap((one) => conversionOf(deps, one, definitions));
  const kept = await deps.conversions.keep(firstOfEach(made));
  await tell(deps, [...before, ...kept]);
  for (const [kind, of] of Map.groupBy(kept, ({ attribution }) => attribution)) deps.count(kind, of.length);
  return [...before, ...kept];
};

type Attributed = Stored & { attribution: Attribution; windowSeconds: number | null };

/** Deliveries are read once for all events of an app. */
const attributed = async ({ touches, outcomesOf }: ConvertDeps, events: readonly Stored[]): Promise<Attributed[]> => {
  const all: Attributed[] = [];
  for (const [appId, of] of Map.groupBy(events, ({ row }) => row.app_id)) {
    const people = of.flatMap(({ row }) => row.user_id ?? []);
    const [first, last] = [of[0]?.row.occurred_at, of.at(-1)?.row.occurred_at];
    if (first === undefined || last === undefined) continue;
    const outcomes = await outcomesOf(appId);
    const from = new Date(first.getTime() - longestWindowMs);
    const byUser = Map.groupBy(await touches.ofPeople(appId, people, from, last), (touch: Touch) => touch.user_id);
    for (const one of of) {
      const own = byUser.get(one.row.user_id ?? "") ?? [];
      const attribution = attribute(one.row.occurred_at, own, outcomes);
      all.push({ ...one, attribution, windowSeconds: windowOf(attribution, outcomes) });
    }
  }
  return all;
};

const windowOf = ({ kind }: Attribution, { direct_minutes, influenced_minutes }: Outcomes): number | null => {
  if (kind === "unattributed") return null;
  return (kind === "direct" ? direct_minutes : influenced_minutes) * 60;
};

/** Nothing, where what no message led to is not to count. */
const conversionOf = (
  { clock }: ConvertDeps,
  { row, definitionId, attribution, windowSeconds }: Attributed,
  definitions: Definitions,
): ConversionRow[] => {
  const definition = definitions.get(definitionId);
  const { kind, to } = attribution;
  if (definition === undefined || (kind === "unattributed" && !definition.outcome_unattributed)) return [];
  return [
    {
      _id: definition.outcome_unique ? uniqueId(row, definitionId, to) : derivedId("conversion", row._id),
      tenant_id: row.tenant_id,
      app_id: row.app_id,
      event_id: row._id,
      event_name: row.name,
      person: row.person ?? null,
      user_id: row.user_id ?? null,
      external_id: row.external_id ?? null,
      value: row.value ?? 1,
      attribution: kind,
      window_seconds: windowSeconds,
      message_id: to?.message_id ?? null,
      delivery_id: to?.delivery_id ?? null,
      subscription_id: to?.subscription_id ?? row.subscription_id ?? null,
      channel: to?.channel ?? null,
      ...(to?.campaign_id !== undefined && { campaign_id: to.campaign_id }),
      among: kind === "influenced" ? attribution.among.map(({ message_id: id }) => id) : [],
      occurred_at: row.occurred_at,
      created_at: clock.now(),
    },
  ];
};

/** The first of a person and message counts; where there is no message, the first of a person and UTC day; nobody's, each. */
const uniqueId = ({ _id, person, occurred_at: at }: Stored["row"], definitionId: string, to: Touch | null): string =>
  derivedId("conversion", definitionId, person ?? _id, to?.message_id ?? dateText(dayOf(at)));

/** In the order of time: an earlier event is the first, where only that counts. */
const firstOfEach = (made: readonly ConversionRow[]): ConversionRow[] => [
  ...new Map(made.toReversed().map((one) => [one._id, one])).values(),
];

const tell = async ({ callbacks, publisher, clock }: ConvertDeps, all: readonly ConversionRow[]): Promise<void> => {
  for (const [appId, of] of Map.groupBy(all, ({ app_id }) => app_id)) {
    const tenantId = of[0]?.tenant_id ?? "";
    const receipts = of.flatMap(receiptOf);
    if (receipts.length > 0)
      await callbacks.keep({ tenantId, appId, provider: ownProvider }, ownCallback(receipts, clock.now()));
    if (!(await publisher.publish(tenantId, of.map(eventOf)))) throw new Unavailable("the stream of events");
  }
};

const receiptOf = ({ delivery_id: deliveryId, occurred_at: at }: ConversionRow): Receipt[] =>
  deliveryId === null ? [] : [{ kind: "converted", deliveryId, providerId: null, address: null, at }];

const eventOf = (row: ConversionRow): EventEnvelope =>
  makeEvent({
    kind: "conversion.created",
    appId: row.app_id,
    subjectId: row.user_id ?? row.external_id,
    at: row.occurred_at,
    from: [row.event_id],
    data: showAs(customEvents["conversion.created"].data, {
      ...row,
      window_seconds: row.window_seconds ?? formerWindow(row),
    }),
  });

/** Of a conversion that a former release stored. */
const formerWindow = ({ attribution, window_seconds: said }: ConversionRow): number | null =>
  said === null || attribution === "unattributed" ? null : longestWindowMs / 1_000;
