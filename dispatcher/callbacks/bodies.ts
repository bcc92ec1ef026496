import { mailBounds } from "#core/channels/email/mail-bounds.ts";
import type { CallbackBatch } from "#core/queue/callbacks.ts";
import { semaphore } from "#core/runtime/batching/bounded.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { FileStore } from "#core/storage/files/store.ts";

export type BodiesDeps = { files: Pick<FileStore, "read" | "remove">; log: Log };

type Waiting = CallbackBatch["callbacks"][number];

/** Callbacks with their bodies, and what is done once they were read for good. */
export type Loaded = { batch: CallbackBatch; forget: (kept: ReadonlySet<string>) => Promise<void> };

export type Bodies = <T>(batch: CallbackBatch, work: (loaded: Loaded) => Promise<T>, signal: AbortSignal) => Promise<T>;

const mostAtOnce = 2; // of 11 MiB, and what is made of them
const mostBytes = mailBounds.bytes + 2 * 1_048_576; // more than an apiserver takes

/** Reads the bodies that wait in files, of a few messages of the queue at a time. One that is gone is left out. */
export const callbackBodies = ({ files, log }: BodiesDeps): Bodies => {
  const places = semaphore(mostAtOnce);
  const load = async (one: Waiting, signal: AbortSignal): Promise<Waiting[]> => {
    const { file } = one.callback;
    if (file === undefined) return [one];
    const body = await bodyOf(files, file, signal);
    if (body === null) log.warn({ app: one.appId, provider: one.provider, file }, "callback.without_file");
    return body === null ? [] : [{ ...one, callback: { ...one.callback, body } }];
  };
  return async (batch, work, signal) => {
    const named = batch.callbacks.flatMap(({ callback }) => callback.file ?? []);
    if (named.length === 0) return work({ batch, forget: async () => undefined });
    return places.run(async () => {
      const callbacks: Waiting[] = [];
      for (const one of batch.callbacks) callbacks.push(...(await load(one, signal)));
      return work({ batch: { callbacks }, forget: forgetting(files, named, signal) });
    }, signal);
  };
};

const forgetting =
  (files: BodiesDeps["files"], named: readonly string[], signal: AbortSignal): Loaded["forget"] =>
  async (kept) => {
    for (const file of named) if (!kept.has(file)) await files.remove(file, signal);
  };

const bodyOf = async (files: BodiesDeps["files"], file: string, signal: AbortSignal): Promise<Buffer | null> => {
  const content = await files.read(file, { signal });
  if (content === null) return null;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (size > mostBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};
