import { type EventText, eventText } from "#core/queue/events.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { EventClaims, FirstEvent } from "#core/storage/events/claims.ts";
import type { Events } from "#core/storage/events/events.ts";

/** An event whose `once` follows from an id that its sender chose, which counts once in a day. */
type OnceEvent = EventText & { once: string; timestamp: string };

/** An event that a request gives: `once` is false without such an id. */
export type GivenEvent = OnceEvent | (EventText & { once: false });

export type ClaimDeps = {
  claims: Pick<EventClaims, "claim">;
  events: Pick<Events, "known">;
};

/** What of a request's events is to be done. */
export type Claimed = {
  /** They came for the first time. */
  own: GivenEvent[];
  /** They came before, and nobody has stored them yet; as they came then. */
  unsure: GivenEvent[];
};

/**
 * Requests whose ids are claimed by one write. It begins 8 ms after the one before, so that many share it, and the messages of
 * the stream that follow; an id that comes alone is claimed at once.
 */
const gathered = { most: 200, inFlight: 1, everyMs: 8, isOfTurn: true };

/**
 * Finds out which events of a request came for the first time, by claiming the ids of their senders before they are
 * published. Whoever claimed one may have been killed before they published it: so an event that came before and is not
 * stored is to be published again, as it was then. Source: docs/decisions/0043.
 */
export const claiming = ({ claims, events }: ClaimDeps) => {
  const claim = gather<readonly OnceEvent[], Map<string, FirstEvent>>({
    write: async (all) => {
      const first = firstOfEach(all.flat());
      const before = await claims.claim([...first.values()]);
      return all.map((of) => new Map(of.flatMap((event) => beforeOf(event, before, first))));
    },
    ...gathered,
  });
  return async (given: readonly GivenEvent[]): Promise<Claimed> => {
    const once = firstOfEach(given.filter(isOnce));
    if (once.size === 0) return { own: [...given], unsure: [] };
    const before = await claim([...once.values()]);
    const isOwn = (event: GivenEvent): boolean =>
      event.once === false || (once.get(event.once) === event && !before.has(event.once));
    const again = [...once.values()].flatMap((event) => asFirst(event, before.get(event.once)));
    const stored = again.length === 0 ? null : await events.known(again.map(({ id }) => id));
    return { own: given.filter(isOwn), unsure: again.filter(({ id }) => stored?.has(id) === false) };
  };
};

const isOnce = (event: GivenEvent): event is OnceEvent => event.once !== false;

/** An event as a request gives it. */
export const givenEvent = (event: EventEnvelope, once: string | false): GivenEvent =>
  once === false ? { ...eventText(event), once } : { ...eventText(event), once, timestamp: event.timestamp };

/** What is twice counts once. */
const firstOfEach = (all: readonly OnceEvent[]): Map<string, OnceEvent> =>
  new Map(all.toReversed().map((event) => [event.once, event]));

/** The event that had the id of this one before: in another write, or in this one. */
const beforeOf = (
  event: OnceEvent,
  before: ReadonlyMap<string, FirstEvent>,
  inWrite: ReadonlyMap<string, OnceEvent>,
): [string, FirstEvent][] => {
  const first = before.get(event.once) ?? inWrite.get(event.once);
  return first === undefined || first === event ? [] : [[event.once, first]];
};

/** An event as it came before; nothing when it came for the first time, or is stored in a batch. */
const asFirst = (event: OnceEvent, first: FirstEvent | undefined): OnceEvent[] => {
  if (first === undefined || first === "stored") return [];
  const { id, timestamp } = first;
  const envelope = JSON.parse(event.text) as EventEnvelope; // sound: our own text
  return [{ ...event, id, timestamp, text: JSON.stringify({ ...envelope, id, timestamp }) }];
};
