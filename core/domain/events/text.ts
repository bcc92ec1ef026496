import type { EventEnvelope } from "../../schema/events/envelope.ts";
import { noReferences } from "../../schema/events/refs.ts";

/** Largest JSON of an event, bytes: what a webhook may carry. Source: docs/reference/events.md#size. */
export const maxEventBytes = 65_536;

/**
 * The JSON of an event: at most `most` bytes, without halves of surrogate pairs, which some receivers refuse. When it
 * would be too large, the largest members of `data` are left out until the rest fits without its texts; then the longest
 * texts are cut to one length, except references, which are ids. A cut event has `"truncated": true`. The same event
 * always gives the same bytes.
 */
export const textWithin = (event: EventEnvelope, most: number = maxEventBytes): string => {
  try {
    const text = jsonOf(event);
    return fits(text, most) ? text : cutText(JSON.parse(text) as EventEnvelope, most); // sound: it was just written
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify({ ...event, data: {}, truncated: true }); // nested too deeply, thousands of levels, for the stack
  }
};

/** An event whose JSON is at most {@link maxEventBytes}: itself, or cut as {@link textWithin} cuts it. */
export const bounded = (event: EventEnvelope): EventEnvelope => cutEvent(event, textWithin(event));

/** The event as a text of it says: itself, unless the text was cut. */
export const cutEvent = (event: EventEnvelope, text: string): EventEnvelope =>
  text.endsWith(cutMark) ? (JSON.parse(text) as EventEnvelope) : event; // sound: it was just written

/** How the text of an event ends that was cut. */
const cutMark = ',"truncated":true}';

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
  refuseTooDeep(event.data);
  const kept = withoutLargest(event.data, most - Buffer.byteLength(write({})));
  const top = level(lengthsOf(kept), most); // a character takes a byte at least
  const data = shortened(kept, top); // what is tried now is small, however large the event was
  const length = longestFitting(top, (tried) => fits(write(shortened(data, tried)), most));
  return write(shortened(data, length));
};

type Data = EventEnvelope["data"];

/** What is left when the largest members, their texts not counted, go until the others fit into so many bytes. */
const withoutLargest = (data: Data, mostChars: number): Data => {
  const members = Object.entries(data).map(([name, value]) => ({ name, bytes: memberBytes(name, value) }));
  let total = members.reduce((sum, { bytes }) => sum + bytes, 0);
  const dropped = new Set<string>();
  for (const { name, bytes } of members.reverse().sort((a, b) => b.bytes - a.bytes)) {
    if (total <= mostChars) break;
    dropped.add(name);
    total -= bytes;
  }
  return Object.fromEntries(Object.entries(data).filter(([name]) => !dropped.has(name)));
};

/** With a colon and a comma. */
const memberBytes = (name: string, value: unknown): number =>
  Buffer.byteLength(JSON.stringify(name)) + Buffer.byteLength(JSON.stringify(member(name, value, 0))) + 2;

/**
 * @throws RangeError when data is nested too deeply to be cut: always at the same depth, unlike the limit of the stack, so
 * that an event always gives the same text
 */
const refuseTooDeep = (data: Data): void => {
  let values: unknown[] = [data];
  for (let depth = 0; values.length > 0; depth++) {
    if (depth > mostDepth) throw new RangeError(`data is nested deeper than ${mostDepth}`);
    values = values.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
};

const mostDepth = 500;

/** Characters of each text that may be cut. */
const lengthsOf = (data: Data): number[] =>
  Object.entries(data).flatMap(([name, value]) => (isReference(name) ? [] : textLengths(value)));

const textLengths = (value: unknown): number[] => {
  if (typeof value === "string") return [value.length];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textLengths) : [];
};

/** The length to which texts are to be cut so that they have at most `mostChars` characters in all. */
const level = (lengths: readonly number[], mostChars: number): number => {
  let left = mostChars;
  for (const [i, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (lengths.length - i));
    if (length > share) return share;
    left -= length;
  }
  return mostChars;
};

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

const shortened = (data: Data, most: number): Data =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, member(name, value, most)]));

/** A reference is never cut: it would name nobody, or somebody else. */
const member = (name: string, value: unknown, most: number): unknown =>
  isReference(name) ? value : shorten(value, most);

const isReference = (name: string): boolean => name === "id" || Object.hasOwn(noReferences, name);

/** With no text longer than `most`, and no half of a surrogate pair left by the cut. */
const shorten = (value: unknown, most: number): unknown => {
  if (typeof value === "string") return value.length > most ? withoutHalf(value.slice(0, most)) : value;
  if (Array.isArray(value)) return value.map((item) => shorten(item, most));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shorten(inner, most)]));
};

const withoutHalf = (text: string): string => text.replace(/[\uD800-\uDBFF]$/, "");
