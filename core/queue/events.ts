import { hash } from "node:crypto";
import { maxEventBytes, textWithin } from "../domain/events/text.ts";
import { groupOf, type Spread } from "../domain/webhooks/partitions.ts";
import { mapBounded } from "../runtime/batching/bounded.ts";
import { gather } from "../runtime/batching/gather.ts";
import type { EventEnvelope, EventKind } from "../schema/events/envelope.ts";
import { isOfOne } from "./jetstream/passing.ts";
import type { Publisher } from "./jetstream/publish.ts";
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
  /** The same for events of one app that are JSON already. */
  publishTexts: (owner: EventOwner, events: readonly EventText[], traceparent?: string | null) => Promise<boolean>;
};

const maxEvents = 100; // what one consumer turn handles well
const inFlight = 16;

export const eventPublisher = ({
  publisher,
  subjects,
  spreadOf = async () => 1,
  published,
}: EventPublisherDeps): EventPublisher & EventTextPublisher => {
  const publishTexts: EventTextPublisher["publishTexts"] = async ({ tenantId, appId }, events, traceparent) => {
    const group = groupOf(appId, await spreadOf(appId));
    const { custom = [], others = [] } = Object.groupBy(events, ({ type }) =>
      type === "event.received" ? "custom" : "others",
    );
    const batches = [
      ...split(custom.map(fitted)).map((batch) => ({ batch, subject: subjects.customEvents(group, tenantId) })),
      ...split(others.map(fitted)).map((batch) => ({ batch, subject: subjects.events(group, tenantId) })),
    ];
    const results = await mapBounded(batches, inFlight, async ({ batch, subject }) => {
      const text = `[${batch.texts.join(",")}]`;
      const isPublished =
        (await publisher.publishText(subject, text, { id: idOf(batch), traceparent })) === "published";
      if (isPublished) published?.(tenantId, batch.ids.length);
      return isPublished;
    });
    return results.every(Boolean);
  };
  return {
    publish: async (tenantId, events, traceparent) => {
      const byApp = [...Map.groupBy(events, ({ app_id }) => app_id)];
      const published = await mapBounded(byApp, inFlight, ([appId, of]) =>
        publishTexts({ tenantId, appId }, of.map(eventText), traceparent),
      );
      return published.every(Boolean);
    },
    publishTexts,
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
  /** Over how many partitions an app is spread; one when left out. One that is no longer true costs time, and nothing is lost. */
  spreadOf?: (appId: string) => Promise<Spread>;
  /** Counts events of a tenant that the stream has taken. */
  published?: (tenantId: string, events: number) => void;
};

type Batch = { ids: string[]; texts: string[]; bytes: number };

/** The events' size decides where a batch ends: at most what the largest event has (docs/decisions/0045). */
const split = (events: readonly EventText[]): Batch[] => {
  const batches: Batch[] = [];
  for (const { id, text } of events) {
    const open = batches.at(-1);
    const bytes = Buffer.byteLength(text);
    if (open === undefined || open.ids.length === maxEvents || open.bytes + bytes > maxEventBytes) {
      batches.push({ ids: [id], texts: [text], bytes });
      continue;
    }
    open.ids.push(id);
    open.texts.push(text);
    open.bytes += bytes;
  }
  return batches;
};

const idOf = ({ ids }: Batch): string => hash("sha256", ids.join("\n"), "base64url");
