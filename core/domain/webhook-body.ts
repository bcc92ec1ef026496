import type { EventEnvelope } from "../schema/event.ts";

/** Largest body of a webhook. Source: spec part 8. */
export const maxWebhookBytes = 65_536;

/**
 * The JSON that is sent for an event. When it would be too large the longest texts of `data` are cut to one length and
 * `"truncated": true` is added; the same event always gives the same bytes.
 */
export const webhookBody = (event: EventEnvelope): string => {
  const whole = JSON.stringify(event);
  if (Buffer.byteLength(whole) <= maxWebhookBytes) return whole;
  const cut = (most: number): string => JSON.stringify({ ...event, data: shorten(event.data, most), truncated: true });
  const most = longestFitting(whole.length, (length) => Buffer.byteLength(cut(length)) <= maxWebhookBytes);
  return most === null ? JSON.stringify({ ...event, data: {}, truncated: true }) : cut(most);
};

/** The largest of 0…top that fits, by halving; null when not even 0 does. */
const longestFitting = (top: number, fits: (length: number) => boolean): number | null => {
  if (!fits(0)) return null;
  let [low, high] = [0, top];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
};

const shorten = (value: unknown, most: number): unknown => {
  if (typeof value === "string") return value.length > most ? cutText(value, most) : value;
  if (Array.isArray(value)) return value.map((item) => shorten(item, most));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shorten(member, most)]));
};

/** Leaves no half of a surrogate pair. */
const cutText = (text: string, most: number): string => text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "");
