import type { BatchEnvelope, EventEnvelope } from "../schema/event.ts";
import { derivedIdAt } from "./ids.ts";

/** Largest body of a webhook. Source: spec part 8. */
export const maxWebhookBytes = 65_536;

/** `Content-Type` of a request: JSON, unless a template says otherwise. Source of its charset: RFC 2046 4.1.2, ASCII without. */
export const contentTypeOf = (template: string | null, contentType: "application/json" | "text/plain"): string =>
  template === null || contentType === "application/json" ? "application/json" : "text/plain; charset=utf-8";

/** Most events in one request. Source: decisions 10.1. */
export const maxBatchEvents = 100;

/**
 * The JSON that is sent for an event: at most 65,536 bytes, without halves of surrogate pairs, which some receivers
 * refuse. When it would be too large, the largest members of `data` are left out until the rest fits without its texts;
 * then the longest texts are cut to one length. `"truncated": true` tells it. The same event always gives the same bytes.
 */
export const webhookText = (event: EventEnvelope): string => textWithin(event, maxWebhookBytes);

/**
 * Events of one app as the requests that bring them, in order: at most 100 events and 65,536 bytes each. An event that
 * fits into none goes alone, cut like that of {@link webhookText}.
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

const roomForEvents = maxWebhookBytes - 300; // for the members of the batch: two ids and a time

const sizedOf = (event: EventEnvelope): Sized => {
  const text = textWithin(event, roomForEvents - 1);
  const sent = text.endsWith(cutMark) ? (JSON.parse(text) as EventEnvelope) : event; // sound: it was just written
  return { event: sent, text, bytes: Buffer.byteLength(text) };
};

/** How the text of an event ends that was cut. */
const cutMark = ',"truncated":true}';

const batchOf = (group: readonly Sized[]): { envelope: BatchEnvelope; text: string } => {
  const events = group.map(({ event }) => event);
  const { timestamp = "", app_id = "" } = events[0] ?? {};
  const id = derivedIdAt("batch", new Date(timestamp), ...events.map((event) => event.id));
  const head = JSON.stringify({ id, type: "batch", timestamp, app_id }).slice(0, -1);
  const text = `${head},"events":[${group.map((sized) => sized.text).join(",")}]}`;
  return { envelope: { id, type: "batch", timestamp, app_id, events }, text };
};

const textWithin = (event: EventEnvelope, most: number): string => {
  try {
    const text = jsonOf(event);
    return fits(text, most) ? text : cutText(JSON.parse(text) as EventEnvelope, most); // sound: it was just written
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify({ ...event, data: {}, truncated: true }); // nested too deeply, thousands of levels, for the stack
  }
};

const jsonOf = (event: EventEnvelope): string => {
  const text = JSON.stringify(event);
  return text.includes("\\ud") ? wellFormed(text) : text; // halves of surrogate pairs are written as escapes
};

/** Each escaped half of a surrogate pair becomes U+FFFD. Parsed again, as two names may have become the same. */
const wellFormed = (text: string): string =>
  JSON.stringify(JSON.parse(text.replace(/\\(ud[89a-f]..|.)/g, (escape) => (escape.length > 2 ? "\\ufffd" : escape))));

const fits = (text: string, most: number): boolean => text.length * 3 <= most || Buffer.byteLength(text) <= most;

const cutText = (event: EventEnvelope, most: number): string => {
  const write = (data: unknown): string => JSON.stringify({ ...event, data, truncated: true });
  const data = withoutLargest(event.data, most - Buffer.byteLength(write({})));
  return write(
    shorten(
      data,
      longestFitting(most, (length) => fits(write(shorten(data, length)), most)),
    ),
  );
};

/** What is left when the largest members, their texts not counted, go until the others fit into so many bytes. */
const withoutLargest = (data: EventEnvelope["data"], room: number): EventEnvelope["data"] => {
  const members = Object.entries(data).map(([name, value]) => ({ name, bytes: memberBytes(name, value) }));
  let total = members.reduce((sum, { bytes }) => sum + bytes, 0);
  const dropped = new Set<string>();
  for (const { name, bytes } of members.reverse().sort((a, b) => b.bytes - a.bytes)) {
    if (total <= room) break;
    dropped.add(name);
    total -= bytes;
  }
  return Object.fromEntries(Object.entries(data).filter(([name]) => !dropped.has(name)));
};

/** With a colon and a comma. */
const memberBytes = (name: string, value: unknown): number =>
  Buffer.byteLength(JSON.stringify(name)) + Buffer.byteLength(JSON.stringify(shorten(value, 0))) + 2;

/** The largest of 0…top that fits, by halving; 0 is known to fit. */
const longestFitting = (top: number, isFitting: (length: number) => boolean): number => {
  let [low, high] = [0, top];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (isFitting(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
};

/** With no text longer than `most`, and no half of a surrogate pair left by the cut. */
const shorten = (value: unknown, most: number): unknown => {
  if (typeof value === "string") return value.length > most ? withoutHalf(value.slice(0, most)) : value;
  if (Array.isArray(value)) return value.map((item) => shorten(item, most));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shorten(member, most)]));
};

const withoutHalf = (text: string): string => text.replace(/[\uD800-\uDBFF]$/, "");
