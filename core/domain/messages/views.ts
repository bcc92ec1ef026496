import { noReferences } from "../../schema/events/refs.ts";
import { type DocumentOf, showAs } from "../../schema/json/show.ts";
import { type Counts, Message } from "../../schema/messages/message.ts";
import type { Content } from "../../schema/messages/notification.ts";
import { ShownWinner } from "../../schema/messages/winner.ts";
import { defined } from "../defined.ts";
import { effectOf, type Measured } from "../experiments/effect.ts";
import { gainOf, type TimingCounts } from "./gain.ts";

/** What a message's view is made of. */
export type ViewedMessage = Omit<
  DocumentOf<typeof Message>,
  "id" | "content" | "variants" | "winner" | "optimized" | "effect"
> & {
  _id: string;
  content: Content;
  variants?: readonly ViewedVariant[];
  variant_counts?: Record<string, Counts>;
  winner?: DocumentOf<typeof ShownWinner>;
  timing_counts?: TimingCounts;
  effect_counts?: readonly Measured[];
  live_activity?: ViewedActivity;
};

type ViewedVariant = Omit<NonNullable<Message["variants"]>[number], "counts" | "is_winner" | "content"> & {
  content: Content;
};
type ViewedActivity = { activity: string; type_id: string; type_name: string; channel?: object };

/** A message as the REST interface shows it: every member, always. */
export const messageView = (row: ViewedMessage): Message =>
  showAs(Message, {
    ...row,
    id: row._id,
    winner: row.winner === undefined ? null : showAs(ShownWinner, row.winner),
    optimized: row.timing_counts === undefined ? null : gainOf(row.timing_counts, controlPercentOf(row)),
    effect: row.effect_counts === undefined ? null : effectOf(row.effect_counts, row.variants),
    variants: row.variants === undefined ? null : variantsOf(row, row.variants),
    ...(row.live_activity && { content: activityContent(row, row.live_activity) }),
    ...(isRedacted(row) && { content: {} }),
  });

const controlPercentOf = ({ options }: ViewedMessage): number | undefined =>
  "optimized_control_percent" in options ? Number(options.optimized_control_percent) : undefined;

const variantsOf = ({ variant_counts: counts, winner }: ViewedMessage, variants: readonly ViewedVariant[]) =>
  variants.map((variant) => ({
    ...variant,
    counts: counts?.[variant.id] ?? {},
    is_winner: winner?.chosen === variant.id,
  }));

/** Its payload is shown nowhere. Source: docs/reference/notification-operations.md#redaction. */
const isRedacted = ({ options }: ViewedMessage): boolean =>
  "redact_payload" in options && options.redact_payload === true;

/** The members that a send of a live activity has, and which event it is. */
const activityContent = (
  { content: { headings: title, contents: body, ios_sound: sound } }: ViewedMessage,
  { activity: _activity, type_id: _typeId, type_name, channel, ...live }: ViewedActivity,
): Record<string, unknown> => {
  const alert = defined({ title, body, sound });
  return {
    ...live,
    activity_type: type_name,
    ...(channel && { channel: true }),
    ...(Object.keys(alert).length > 0 && { alert }),
  };
};

/** `data` of the events `message.*`: the message and the references. Source: docs/reference/events.md#data. */
export const messageEventData = (row: ViewedMessage): Record<string, unknown> => ({
  ...noReferences,
  message_id: row._id,
  ...fitted(messageView(row)),
});

/** So that the envelope fits into the 64 KB of an event (docs/reference/events.md#size) and no id is cut. */
const maxBytes = 60_000;

/** A message whose event would be too large goes without its long texts and lists, and says so. */
const fitted = (message: Message): Message & { truncated?: true } => {
  if (bytesOf(message) <= maxBytes) return message;
  const short = {
    ...message,
    content: shortened(message.content),
    target: shortened(message.target),
    variants: message.variants?.map((one) => ({ ...one, content: shortened(one.content) })) ?? null,
    truncated: true as const,
  };
  return bytesOf(short) <= maxBytes ? short : { ...short, content: {}, target: {}, variants: null };
};

const bytesOf = (message: Message): number => Buffer.byteLength(JSON.stringify(message));

const shortened = (map: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, shorten(value)]));

const shorten = (value: unknown): unknown => {
  if (typeof value === "string") return value.slice(0, 500);
  if (Array.isArray(value)) return value.slice(0, 20).map(shorten);
  return typeof value === "object" && value !== null ? shortened(value) : value;
};
