import { connectNats } from "#core/queue/connect.ts";
import { eventStream } from "#core/queue/topology.ts";
import type { EventEnvelope } from "#core/schema/event.ts";

/** What an installation published, from the moment of asking on. */
export type ReadEvents = {
  /** The events about a thing, oldest first. */
  about: (id: string) => EventEnvelope[];
  close: () => Promise<void>;
};

/** Reads an installation's stream of events as a consumer of its own. */
export const readEvents = async (natsUrl: string, prefix: string): Promise<ReadEvents> => {
  const nats = await connectNats({ url: natsUrl, name: "tests" });
  const consumer = await nats.js.consumers.get(eventStream(prefix).stream.name);
  const events: EventEnvelope[] = [];
  const messages = await consumer.consume({
    callback: (message) => void events.push(...message.json<EventEnvelope[]>()),
  });
  return {
    about: (id) => events.filter(({ subject_id, data }) => subject_id === id || data["message_id"] === id),
    close: async () => {
      await messages.close();
      await nats.close();
    },
  };
};
