import { derivedId } from "#core/domain/ids.ts";
import { throttledSize } from "#core/domain/messages/slots.ts";
import { type ChunkRow, chunkSize } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { noWork } from "#core/storage/work/due.ts";
import type { Piece } from "./audience.ts";
import { isTimed } from "./timing/by-local-time.ts";
import { rateOf } from "./timing/throttle.ts";

/** A part of a message's first send. */
export const chunkOf = (message: MessageRow, piece: Piece, position: number, now: Date): ChunkRow => ({
  ...noWork,
  _id: derivedId("chunk", message._id, String(position)),
  message_id: message._id,
  tenant_id: message.tenant_id,
  app_id: message.app_id,
  plan: message.plan,
  channel: piece.channel,
  position,
  status: "waiting",
  recipients: piece.recipients,
  scanned: piece.scanned,
  parent_id: null,
  attempt: 0,
  may_overlap: message.fence > 1,
  may_have_arrived: false,
  ...(rateOf(message) !== null && { is_throttled: true as const }),
  dispatched_at: null,
  created_at: now,
});

/** Recipients of one chunk of a message. */
export const pieceSize = (message: MessageRow): number => {
  if (isTimed(message)) return sortedSize;
  const rate = rateOf(message);
  return rate === null ? chunkSize : throttledSize(rate, chunkSize);
};

/** Recipients who are sorted by when they are due are read by more, so that those of one instant fill chunks. */
const sortedSize = 5_000;
