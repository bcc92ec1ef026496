import { derivedId } from "#core/domain/ids.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import { noWork } from "#core/storage/work/due.ts";

/** An address that is sent to in the place of another one of the same person. `of`: its delivery, of a fallback. */
export type Instead = { subscriptionId: string; channel: Channel; of?: string };

/** The chunks that send to addresses in the place of others, at once: one for each channel. */
export const insteadChunks = (chunk: ChunkRow, instead: readonly Instead[], now: Date): ChunkRow[] =>
  [...Map.groupBy(instead, ({ channel }) => channel)].map(([channel, of]) => ({
    ...chunk,
    ...noWork,
    _id: derivedId("chunk", chunk._id, String(chunk.fence), "instead", channel),
    channel,
    due_at: now,
    recipients: [...new Set(of.map(({ subscriptionId }) => subscriptionId))].sort(),
    scanned: null,
    parent_id: chunk._id,
    attempt: chunk.attempt + 1,
    instead_from: chunk.attempt + 1,
    may_overlap: true,
    may_have_arrived: false,
    dispatched_at: chunk.dispatched_at ?? now,
    status: "open",
    created_at: now,
  }));
