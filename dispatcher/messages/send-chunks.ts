import type { Clock } from "#core/domain/clock.ts";
import type { Counts } from "#core/schema/messages/message.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { DeliveryCounts } from "#core/storage/usage/delivery-counts.ts";
import type { Lease } from "../work/lease.ts";
import { allChangesOf } from "./counts.ts";
import type { Delivered, Work } from "./delivery/work.ts";
import { fallsBack, lookChunks } from "./fallback/chunks.ts";
import { isTimed } from "./timing/by-local-time.ts";

export type SendChunksDeps = {
  deliver: (work: Work, lease: Lease) => Promise<Delivered>;
  /** False when the events could not be published now. */
  followUp: (work: Work, delivered: Delivered, lease: Lease) => Promise<boolean>;
  chunks: { recipientsOfRetries: (chunkId: string) => Promise<string[]> };
  /** Counts as usage what is stored of a batch; safe to repeat until its holder has ended. */
  countUsage: DeliveryCounts["count"];
  messages: {
    count: (messageId: string, counts: Counts, now: Date, ofVariants: Record<string, Counts>) => Promise<void>;
  };
  clock: Clock;
};

/** Chunks of a message that are sent one after another, from the queue or never stored. */
export type ChunkBatch = {
  message: MessageRow;
  app: AppRow;
  /** With their recipients, where they were read a moment ago. */
  chunks: readonly { chunk: ChunkRow; rows?: readonly Reached[] | undefined }[];
  /** The document that is given back or ended when they are sent: the chunk of the queue, or the message. */
  holder: string;
  /** Whether these are the whole message: unless some are to be tried again, it ends here and is counted then. */
  isWhole: boolean;
  begin?: Work["begin"];
};

/**
 * What it came to: `sent`; `halted` before everyone was reached; or `unpublished`, when events are left over. The latter
 * two are gone through again. `stored` has every delivery of the chunks, those of earlier runs too.
 */
export type Sent = {
  kind: "sent" | "halted" | "unpublished";
  stored: DeliveryRow[];
  hasRetries: boolean;
  /** Whether some of them are sent to later. */
  hasLater?: boolean;
};

export type SendChunks = (batch: ChunkBatch, lease: Lease) => Promise<Sent>;

/** Sends chunks: delivers each, does what follows from it, and counts what was stored. Safe to run twice. */
export const sendChunks =
  (deps: SendChunksDeps): SendChunks =>
  async ({ message, app, chunks, holder, isWhole, begin }, lease) => {
    const fresh: DeliveryRow[] = [];
    const sent: Sent = { kind: "sent", stored: [], hasRetries: false };
    const piece = { id: holder, tenantId: message.tenant_id, holder };
    for (const [position, { chunk, rows }] of chunks.entries()) {
      const retried = new Set(chunk.fence === 1 ? [] : await deps.chunks.recipientsOfRetries(chunk._id)); // 1: nobody ran it before
      const recipients = chunk.recipients.filter((id) => !retried.has(id));
      const work = { chunk: { ...chunk, recipients }, message, app, rows, begin };
      const delivered = await deps.deliver(work, lease);
      sent.stored.push(...delivered.stored);
      const isLast = delivered.halted || position === chunks.length - 1;
      const [isPublished] = await Promise.all([
        deps.followUp(work, delivered, lease),
        !isLast || lease.isLost() ? undefined : deps.countUsage(piece, sent.stored), // else who has it counts
      ]);
      fresh.push(...delivered.fresh);
      if (fallsBack(message) && lookChunks(work, delivered.stored, deps.clock.now()).length > 0) sent.hasLater = true;
      if ((delivered.later ?? []).length > 0 || (isTimed(message) && retried.size > 0)) sent.hasLater = true;
      const left = delivered.again.length + (delivered.instead?.length ?? 0) + retried.size;
      sent.hasRetries ||= left > 0 || sent.hasLater === true;
      sent.kind = delivered.halted ? "halted" : isPublished ? "sent" : "unpublished";
      if (sent.kind !== "sent") break;
    }
    const endsHere = isWhole && sent.kind === "sent" && !sent.hasRetries;
    if (endsHere) return sent;
    const { ofMessage, ofVariants } = allChangesOf(fresh);
    await deps.messages.count(message._id, ofMessage, deps.clock.now(), ofVariants);
    return sent;
  };
