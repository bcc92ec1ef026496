import { standardTtlSeconds } from "#core/domain/messages/ttl.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";

/** When the ttl of a chunk's recipients ends: it begins with their first attempt, or when that was due. */
export const expiry = (chunk: ChunkRow, { options }: Pick<MessageRow, "options">, now: Date): Date =>
  chunk.resend_until ??
  new Date((chunk.dispatched_at ?? chunk.scheduled_for ?? now).getTime() + (options.ttl ?? standardTtlSeconds) * 1000);
