import { hash } from "node:crypto";
import { maxEventBytes, textWithin } from "../domain/events/text.ts";
import type { Partitioning, Spread } from "../domain/webhooks/partitions.ts";
import { Unavailable } from "../errors.ts";
import { mapBounded } from "../runtime/batching/bounded.ts";
import { gather } from "../runtime/batching/gather.ts";
import type { EventEnvelope, EventKind } from "../schema/events/envelope.ts";
import { isOfOne } from "./jetstream/passing.ts";
import type { Publisher, PublishOptions } from "./jetstream/publish.ts";
import type { Subjects } from "./subjects.ts";

export type EventPublisher = {
  /**
   * Publishes events of a tenant, as many in a message as fit. False when the stream, or this tenant's share of it, had no
   * room for some: publish all again later; consumers know an event by its id.
   * @throws Unavailable when JetStream is away
   */
  publish: (tenantId: string, events: readonly EventEnvelope[], traceparent?: string | null) => Promise<boolean>;
};

/** An event as its JSON, which is written once. */
export type EventText = { id: string; type: EventKind; text: string };

/** Whose events are. */
export type EventOwner = { tenantId: string; appId: string };

/** Of at most 64 KiB, also of an event that was stored before its maker kept to that. */
export const eventText = (event: EventEnvelope): EventText => ({
  id: event.id,
  type: event.type,
  text: textWithin(event),
});

const fitted = (event: EventText): EventText =>
  Buffer.byteLength(event.text) <= maxEventBytes ? event : eventText(JSON.parse(event.text) as EventEnvelope); // sound: our own text

export type EventTextPublisher = {
  /**
   * Offers the stream events of one app that are JSON already; gives those that it has not acknowledged, and whether that
   * is so because JetStream is away: it may have them all the same. Resolves when the stream has the others.
   */
  offerTexts: <T extends EventText>(owner: EventOwner, events: readonly T[], how?: Offering) => Promise<Offered<T>>;
};

export type Offering = Pick<PublishOptions, "traceparent" | "mayBeRepeated">;

export type Offered<T> = { left: T[]; away: Unavailable | null };

const maxEvents = 100; // what one consumer turn handles well
const inFlight = 16;

export const eventPublisher = ({
  publisher,
  subjects,
  partitioning,
  spreadOf = async () => 1,
  published,
}: EventPublisherDeps): EventPublisher & EventTextPublisher => {
  const offerTexts: EventTextPublisher["offerTexts"] = async ({ tenantId, appId }, events, how = {}) => {
    const group = partitioning.groupOf(appId, await spreadOf(appId));
    const { custom = [], others = [] } = Object.groupBy(events, ({ type }) =>
      type === "event.received" ? "custom" : "others",
    );
    const batches = [
      ...split(custom).map((batch) => ({ batch, subject: subjects.customEvents(group, tenantId) })),
      ...split(others).map((batch) => ({ batch, subject: subjects.events(group, tenantId) })),
    ];
    let away: Unavailable | null = null;
    const left = await mapBounded(batches, inFlight, async ({ batch, subject }) => {
      if (away !== null) return batch.events; // the others would wait for as long
      try {
        const answer = await publisher.publishText(subject, `[${batch.texts.join(",")}]`, { id: idOf(batch), ...how });
        if (answer === "refused") return batch.events;
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        away = error;
        return batch.events;
      }
      published?.(tenantId, batch.events.length);
      return [];
    });
    return { left: left.flat(), away };
  };
  return {
    publish: async (tenantId, events, traceparent) => {
      const byApp = [...Map.groupBy(events, ({ app_id }) => app_id)];
      const offered = await mapBounded(byApp, inFlight, ([appId, of]) =>
        offerTexts({ tenantId, appId }, of.map(eventText), { traceparent }),
      );
      for (const { away } of offered) if (away !== null) throw away;
      return offered.every(({ left }) => left.length === 0);
    },
    offerTexts,
  };
};

const batched = { most: 200, inFlight: 1 }; // callers whose events go out at once

/** Publishes the events of several callers of one tenant at once, so that many share a message of the stream. */
export const gatheredEvents = (events: EventPublisher): EventPublisher => {
  const publish = gather({
    write: async (callers: readonly { tenantId: string; batch: readonly EventEnvelope[] }[]) => {
      const byTenant = [...Map.groupBy(callers, ({ tenantId }) => tenantId)];
      const published = await mapBounded(byTenant, inFlight, async ([tenantId, of]) => {
        const all = of.flatMap(({ batch }) => batch);
        return [tenantId, await events.publish(tenantId, all)] as const;
      });
      const isPublished = new Map(published);
      return callers.map(({ tenantId }) => isPublished.get(tenantId) === true);
    },
    ...batched,
    isOfOne,
  });
  return { publish: (tenantId, batch) => publish({ tenantId, batch }) };
};

export type EventPublisherDeps = {
  publisher: Pick<Publisher, "publishText">;
  subjects: Pick<Subjects, "events" | "customEvents">;
  partitioning: Pick<Partitioning, "groupOf">;
  /** Over how many partitions an app is spread; one when left out. One that is no longer true costs time, and nothing is lost. */
  spreadOf?: (appId: string) => Promise<Spread>;
  /** Counts events of a tenant that the stream has taken. */
  published?: (tenantId: string, events: number) => void;
};

type EventGroup<T extends EventText> = { events: T[]; texts: string[]; bytes: number };

/** The events' size decides where a batch ends: at most what the largest event has (docs/decisions/0045). */
const split = <T extends EventText>(events: readonly T[]): EventGroup<T>[] => {
  const batches: EventGroup<T>[] = [];
  for (const event of events) {
    const open = batches.at(-1);
    const { text } = fitted(event);
    const bytes = Buffer.byteLength(text);
    if (open === undefined || open.events.length === maxEvents || open.bytes + bytes > maxEventBytes) {
      batches.push({ events: [event], texts: [text], bytes });
      continue;
    }
    open.events.push(event);
    open.texts.push(text);
    open.bytes += bytes;
  }
  return batches;
};

const idOf = ({ events }: EventGroup<EventText>): string =>
  hash("sha256", events.map(({ id }) => id).join("\n"), "base64url");
