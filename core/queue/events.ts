import { hash } from "node:crypto";
import { maxEventBytes, textWithin } from "../domain/event-text.ts";
import { mapBounded } from "../runtime/bounded.ts";
import { gather } from "../runtime/gather.ts";
import type { EventEnvelope, EventKind } from "../schema/event.ts";
import { isOfOne } from "./passing.ts";
import type { Publisher } from "./publish.ts";
import type { Subjects } from "./subjects.ts";

export type EventPublisher = {
  /**
   * Publishes events, those of one app and kind together. False when the stream had no room for some: publish all
   * again later; consumers know an event by its id.
   * @throws Unavailable when JetStream is away
   */
  publish: (events: readonly EventEnvelope[], traceparent?: string | null) => Promise<boolean>;
};

/** An event of an app as its JSON, which is written once. */
export type EventText = { id: string; type: EventKind; text: string };

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
  publishTexts: (appId: string, events: readonly EventText[], traceparent?: string | null) => Promise<boolean>;
};

const maxEvents = 100; // what one consumer turn handles well
const maxBytes = 262_144; // of events in one message: NATS takes 1 MiB
const inFlight = 16;

export const eventPublisher = ({ publisher, subjects }: EventPublisherDeps): EventPublisher & EventTextPublisher => {
  const send = async (batches: readonly Batch[], traceparent?: string | null): Promise<boolean> => {
    const results = await mapBounded(batches, inFlight, (batch) =>
      publisher.publishText(batch.subject, `[${batch.texts.join(",")}]`, { id: idOf(batch), traceparent }),
    );
    return results.every((result) => result === "published");
  };
  const batchesOf = (appId: string, events: readonly EventText[]): Batch[] =>
    [...Map.groupBy(events, ({ type }) => type)].flatMap(([type, group]) => split(subjects.events(appId, type), group));
  return {
    publish: (events, traceparent) => {
      const byApp = Map.groupBy(events, (event) => event.app_id);
      return send(
        [...byApp].flatMap(([appId, group]) => batchesOf(appId, group.map(eventText))),
        traceparent,
      );
    },
    publishTexts: (appId, events, traceparent) => send(batchesOf(appId, events.map(fitted)), traceparent),
  };
};

const together = { most: 200, inFlight: 1 }; // callers whose events go out at once

/** Publishes what several callers have at the same moment together, so that many share a message of the stream. */
export const gatheredEvents = (events: EventPublisher): EventPublisher => {
  const publish = gather({
    write: async (callers: readonly (readonly EventEnvelope[])[]) => {
      const isPublished = await events.publish(callers.flat());
      return callers.map(() => isPublished);
    },
    ...together,
    isOfOne,
  });
  return { publish: (batch) => publish(batch) };
};

export type EventPublisherDeps = { publisher: Pick<Publisher, "publishText">; subjects: Pick<Subjects, "events"> };

type Batch = { subject: string; ids: string[]; texts: string[]; bytes: number };

/** The events' size decides where a batch ends. */
const split = (subject: string, events: readonly EventText[]): Batch[] => {
  const batches: Batch[] = [];
  for (const { id, text } of events) {
    const open = batches.at(-1);
    const bytes = Buffer.byteLength(text);
    if (open === undefined || open.ids.length === maxEvents || open.bytes + bytes > maxBytes) {
      batches.push({ subject, ids: [id], texts: [text], bytes });
      continue;
    }
    open.ids.push(id);
    open.texts.push(text);
    open.bytes += bytes;
  }
  return batches;
};

const idOf = ({ ids }: Batch): string => hash("sha256", ids.join("\n"), "base64url");
