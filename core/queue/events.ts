import { createHash } from "node:crypto";
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
      publisher.publish(subject, batch, { id: batchId(batch), traceparent }),
    );
    return results.every((result) => result === "published");
  },
});

export type EventPublisherDeps = { publisher: Publisher; subjects: Pick<Subjects, "events"> };

const split = (events: readonly EventEnvelope[]): EventEnvelope[][] => {
  const batches: EventEnvelope[][] = [];
  let batch: EventEnvelope[] = [];
  let characters = 0;
  for (const event of events) {
    const size = JSON.stringify(event).length;
    if (batch.length === maxEvents || (batch.length > 0 && characters + size > maxCharacters)) {
      batches.push(batch);
      [batch, characters] = [[], 0];
    }
    batch.push(event);
    characters += size;
  }
  return batch.length > 0 ? [...batches, batch] : batches;
};

const batchId = (batch: readonly EventEnvelope[]): string =>
  createHash("sha256")
    .update(batch.map((event) => event.id).join("\n"))
    .digest("base64url");
