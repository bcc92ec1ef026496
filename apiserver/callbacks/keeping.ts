import { type Callback, mailPart } from "#core/channels/kit/callbacks.ts";
import type { Clock } from "#core/domain/clock.ts";
import { ulid } from "#core/domain/ids.ts";
import type { CallbackOf, CallbackQueue } from "#core/queue/callbacks.ts";
import type { FileStore } from "#core/storage/files/store.ts";

export type KeepingDeps = {
  queue: Pick<CallbackQueue, "keep">;
  files: Pick<FileStore, "kind" | "write" | "remove">;
  clock: Clock;
};

const mostQueuedBytes = 131_072; // whatever a body holds, it fits into a message of the queue then

/**
 * Stores a callback until a dispatcher reads it. A mail that is too large for the queue waits in the store of files, where
 * there is one; a message of the queue says where.
 * @throws Unavailable, and AppError HS_PAYLOAD_TOO_LARGE for what is too large for the queue without a store of files
 */
export const keeping =
  ({ queue, files, clock }: KeepingDeps) =>
  async (of: CallbackOf, callback: Callback, signal: AbortSignal): Promise<void> => {
    const isLarge = callback.part.startsWith(mailPart) && callback.body.length > mostQueuedBytes;
    if (!isLarge || files.kind === "none") return queue.keep(of, callback);
    const file = `mails/${of.appId}/${ulid(clock.now())}`;
    await files.write(file, contentOf(callback.body), { contentType: "application/octet-stream", signal });
    try {
      await queue.keep(of, { ...callback, body: Buffer.alloc(0), file });
    } catch (error) {
      await files.remove(file, signal).catch(() => undefined); // else it goes after two days
      throw error;
    }
  };

async function* contentOf(body: Buffer): AsyncGenerator<Uint8Array> {
  yield body;
}
