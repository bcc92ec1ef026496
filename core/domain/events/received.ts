import { hash } from "node:crypto";
import type { EventEnvelope } from "../../schema/events/envelope.ts";

/** A custom event as `event.received` tells it. */
export type ReceivedEvent = {
  id: string;
  app_id: string;
  received_at: Date;
  name: string;
  user_id: string | null;
  external_id: string | null;
  subscription_id: string | null;
  properties: Record<string, unknown>;
  value: number | null;
  occurred_at: Date;
  source: string;
};

/** Custom events that came in one message of the stream. The same events always have the same key. */
export type EventBatch = { key: string; events: ReceivedEvent[] };

/** What the service itself tells begins with it: nobody else may send such events, and they are no custom events. */
export const ownNames = "hs.";

/** The custom events of a message; those of people who were erased before, and the service's own, are left out. */
export const batchOf = (envelopes: readonly EventEnvelope[]): EventBatch => {
  const events = envelopes.flatMap((envelope) => (isReceived(envelope) ? [receivedOf(envelope)] : []));
  return { key: hash("sha256", events.map(({ id }) => id).join("\n"), "base64url").slice(0, 22), events };
};

/** An erased event has no name any more. */
const isReceived = ({ type, data }: EventEnvelope): boolean =>
  type === "event.received" &&
  typeof data["name"] === "string" &&
  !data["name"].startsWith(ownNames) &&
  typeof data["occurred_at"] === "string";

const receivedOf = ({ id, app_id, timestamp, data }: EventEnvelope): ReceivedEvent => ({
  id,
  app_id,
  received_at: new Date(timestamp),
  name: String(data["name"]),
  user_id: textOf(data["user_id"]),
  external_id: textOf(data["external_id"]),
  subscription_id: textOf(data["subscription_id"]),
  properties: objectOf(data["properties"]),
  value: typeof data["value"] === "number" ? data["value"] : null,
  occurred_at: new Date(String(data["occurred_at"])),
  source: textOf(data["source"]) ?? "api",
});

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}; // sound: it is an object
