import type { BatchEnvelope, EventEnvelope } from "../../schema/events/envelope.ts";
import { cutEvent, maxEventBytes, textWithin } from "../events/text.ts";
import { derivedIdAt } from "../ids.ts";

/** `Content-Type` of a request: JSON, unless a template writes text. Source: RFC 2046 4.1.2, text without a charset is ASCII. */
export const contentTypeOf = (template: string | null, contentType: "application/json" | "text/plain"): string =>
  template === null || contentType === "application/json" ? "application/json" : "text/plain; charset=utf-8";

/** Most events in one request. Source: docs/reference/webhooks.md#batches. */
export const maxBatchEvents = 100;

/**
 * The batches in which events of one app are sent, in order: at most 100 events and 65,536 bytes each. An event that is
 * larger is sent alone, cut like {@link textWithin}.
 */
export const batchesOf = (events: readonly EventEnvelope[]): { envelope: BatchEnvelope; text: string }[] => {
  const groups: Sized[][] = [];
  let bytes = 0;
  for (const event of events) {
    const sized = sizedOf(event);
    bytes += sized.bytes + 1; // and a comma
    const last = groups.at(-1);
    if (last === undefined || last.length === maxBatchEvents || bytes > roomForEvents) {
      groups.push([sized]);
      bytes = sized.bytes + 1;
    } else last.push(sized);
  }
  return groups.map(batchOf);
};

type Sized = { event: EventEnvelope; text: string; bytes: number };

const roomForEvents = maxEventBytes - 300; // for the members of the batch: two ids and a time

const sizedOf = (event: EventEnvelope): Sized => {
  const text = textWithin(event, roomForEvents - 1);
  return { event: cutEvent(event, text), text, bytes: Buffer.byteLength(text) };
};

const batchOf = (group: readonly Sized[]): { envelope: BatchEnvelope; text: string } => {
  const events = group.map(({ event }) => event);
  const { timestamp = "", app_id = "" } = events[0] ?? {};
  const id = derivedIdAt("batch", new Date(timestamp), ...events.map((event) => event.id));
  const head = JSON.stringify({ id, type: "batch", timestamp, app_id }).slice(0, -1);
  const text = `${head},"events":[${group.map((sized) => sized.text).join(",")}]}`;
  return { envelope: { id, type: "batch", timestamp, app_id, events }, text };
};
