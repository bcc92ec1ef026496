import { randomUUID } from "node:crypto";
import { AckPolicy } from "@nats-io/jetstream";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { eventStream } from "#core/queue/jetstream/topology.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { testPartitioning } from "../rows/partitioning.ts";
import { testTiming } from "../suite/soak.ts";

/** What an installation published, from the moment of asking on. */
export type ReadEvents = {
  /** The events about a thing, oldest first. */
  about: (id: string) => EventEnvelope[];
  /** All of them. */
  all: () => readonly EventEnvelope[];
  close: () => Promise<void>;
};

/** Reads an installation's stream of events as a consumer of its own, which outlives the server's restarts. */
export const readEvents = async (natsUrl: string, prefix: string): Promise<ReadEvents> => {
  const nats = await connectNats({ url: natsUrl, name: "tests" });
  const stream = eventStream(prefix, testTiming, testPartitioning).stream.name;
  const durable = `tests-${randomUUID()}`;
  await nats.jsm.consumers.add(stream, { durable_name: durable, ack_policy: AckPolicy.Explicit });
  const consumer = await nats.js.consumers.get(stream, durable);
  const events: EventEnvelope[] = [];
  const read = new Set<number>();
  const messages = await consumer.consume({
    callback: (message) => {
      if (!read.has(message.seq)) events.push(...message.json<EventEnvelope[]>()); // one comes again when a kill took its acknowledgement
      read.add(message.seq);
      message.ack();
    },
  });
  return {
    about: (id) => events.filter(({ subject_id, data }) => subject_id === id || data["message_id"] === id),
    all: () => events,
    close: async () => {
      await messages.close();
      await nats.jsm.consumers.delete(stream, durable);
      await nats.close();
    },
  };
};
