import { hash } from "node:crypto";
import { mapBounded } from "../runtime/bounded.ts";
import type { EventEnvelope } from "../schema/event.ts";
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

const maxEvents = 100; // what one consumer turn handles well
const maxCharacters = 250_000; // at 4 bytes each still below NATS's 1 MiB
const inFlight = 16;

export const eventPublisher = ({ publisher, subjects }: EventPublisherDeps): EventPublisher => ({
  publish: async (events, traceparent) => {
    const groups = Map.groupBy(events, (event) => subjects.events(event.app_id, event.type));
    const batches = [...groups].flatMap(([subject, group]) => split(group).map((batch) => ({ subject, batch })));
    const results = await mapBounded(batches, inFlight, ({ subject, batch }) =>
      publisher.publishText(subject, `[${batch.texts.join(",")}]`, { id: idOf(batch), traceparent }),
    );
    return results.every((result) => result === "published");
  },
});

export type EventPublisherDeps = { publisher: Pick<Publisher, "publishText">; subjects: Pick<Subjects, "events"> };

type Batch = { ids: string[]; texts: string[]; characters: number };

/** Each event is written as JSON once: its length decides where a batch ends. */
const split = (events: readonly EventEnvelope[]): Batch[] => {
  const batches: Batch[] = [];
  for (const event of events) {
    const text = JSON.stringify(event);
    const open = batches.at(-1);
    if (open === undefined || open.ids.length === maxEvents || open.characters + text.length > maxCharacters) {
      batches.push({ ids: [event.id], texts: [text], characters: text.length });
      continue;
    }
    open.ids.push(event.id);
    open.texts.push(text);
    open.characters += text.length;
  }
  return batches;
};

const idOf = ({ ids }: Batch): string => hash("sha256", ids.join("\n"), "base64url");
