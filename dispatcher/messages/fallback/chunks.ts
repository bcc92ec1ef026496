import { minuteMs } from "#core/domain/durations.ts";
import { derivedId } from "#core/domain/ids.ts";
import { fallbackOf, isMissed } from "#core/domain/messages/fallback.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { noWork } from "#core/storage/work/due.ts";
import type { Instead } from "../delivery/instead.ts";
import type { Work } from "../delivery/work.ts";
import { rateOf } from "../timing/throttle.ts";

type Part = Pick<Work, "chunk" | "message">;

/** Whether a message goes over another channel to whom it did not reach. */
export const fallsBack = ({ options }: Pick<MessageRow, "options">): boolean => fallbackOf(options).length > 0;

/**
 * The chunk that looks at what a run stored once the time of the next step is over; none when no step is left, or none of
 * it can come to that.
 */
export const lookChunks = ({ chunk, message }: Part, stored: readonly DeliveryRow[], now: Date): ChunkRow[] => {
  const position = chunk.fallback === undefined ? 0 : chunk.fallback.step + 1;
  const step = fallbackOf(message.options)[position];
  if (step === undefined || chunk.looks_at !== undefined || chunk.resend_until !== undefined) return [];
  const recipients = stored.filter((row) => mayBeMissed(row)).map((row) => row.subscription_id);
  if (recipients.length === 0) return [];
  return [
    {
      ...plain(chunk, message, now),
      _id: derivedId("chunk", chunk._id, String(chunk.fence), "look"),
      parent_id: message._id, // no chunk: its recipients have their deliveries
      recipients: recipients.sort(),
      status: "scheduled",
      scheduled_for: new Date(now.getTime() + step.after_minutes * minuteMs),
      looks_at: position,
    },
  ];
};

/** What was sent may fail or go unread; what was not sent is missed now, or never. */
const mayBeMissed = (row: DeliveryRow): boolean => row.sent_at !== undefined || isMissed(row, "failed");

/** The chunk that sends a step to those for whom it is due. */
export const fallbackChunks = ({ chunk, message }: Part, to: readonly Instead[], now: Date): ChunkRow[] => {
  const { looks_at: step } = chunk;
  const [first] = to;
  if (step === undefined || first === undefined) return [];
  return [
    {
      ...plain(chunk, message, now),
      _id: derivedId("chunk", chunk._id, String(chunk.fence), "fallback"),
      channel: first.channel,
      parent_id: chunk._id,
      recipients: to.map(({ subscriptionId }) => subscriptionId).sort(),
      status: "open",
      due_at: now,
      scheduled_for: now, // not by local time: they have waited
      fallback: { step, of: Object.fromEntries(to.map(({ subscriptionId, of = "" }) => [subscriptionId, of])) },
      ...(rateOf(message) !== null && { is_throttled: true as const }),
    },
  ];
};

const plain = ({ channel, position }: ChunkRow, message: MessageRow, now: Date) => ({
  ...noWork,
  message_id: message._id,
  tenant_id: message.tenant_id,
  app_id: message.app_id,
  plan: message.plan,
  channel,
  position,
  scanned: null,
  attempt: 0,
  may_overlap: true,
  may_have_arrived: false,
  dispatched_at: null,
  created_at: now,
});
