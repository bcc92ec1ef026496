import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { type Receiver, startReceiver } from "../../../dev/simulators/receiver.ts";
import { eventually } from "./cluster/cluster.ts";

export type Inbox = Receiver & {
  /** Waits until an event has said of each message that it was sent; throws with those of which none has. */
  delivered: (messageIds: readonly string[], withinMs: number) => Promise<void>;
  /** How many events of a delivery that was sent came a second time. */
  repeated: () => number;
  /** When the first request came to a path, in ms since the epoch. */
  firstAt: (path: string) => number | null;
};

/** The receiver of webhooks, which remembers of every event what the tests ask for. */
export const startInbox = async (port: number): Promise<Inbox> => {
  const sent = new Set<string>();
  const told = new Map<string, number>();
  const firstAt = new Map<string, number>();
  const receiver = await startReceiver({
    port,
    answer: ({ path, body }) => {
      if (!firstAt.has(path)) firstAt.set(path, Date.now());
      if (path === "/webhooks") note(sent, told, JSON.parse(body) as EventEnvelope); // docs/events.md
      return { status: 200, body: "ok" };
    },
  });
  return {
    ...receiver,
    delivered: async (messageIds, withinMs) => {
      const missing = () => messageIds.filter((id) => !sent.has(id));
      await eventually("events of the delivery of all messages", withinMs, async () =>
        missing().length === 0 ? true : null,
      ).catch((cause: unknown) => {
        const lost = missing();
        throw new Error(`${lost.length} of ${messageIds.length} messages: no delivery, ${lost.slice(0, 3).join(" ")}`, {
          cause,
        });
      });
    },
    repeated: () => [...told.values()].filter((times) => times > 1).length,
    firstAt: (path) => firstAt.get(path) ?? null,
  };
};

const note = (sent: Set<string>, told: Map<string, number>, { id, type, data }: EventEnvelope): void => {
  if (type !== "delivery.sent") return;
  sent.add(String(data["message_id"]));
  told.set(id, (told.get(id) ?? 0) + 1);
};
