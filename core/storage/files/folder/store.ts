import { constants, createReadStream } from "node:fs";
import { access, mkdir, open, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Signer } from "../../../domain/signer.ts";
import { asKey, type Content, type FileStore, storeFault, type Written } from "../store.ts";
import { addressIn } from "./address.ts";
import { removeOld } from "./old.ts";

export type FolderSettings = {
  /** A folder that the apiserver and every dispatcher share. */
  dir: string;
  /** Address of the apiserver as those reach it who download. */
  publicUrl: string;
};

/** Files below a folder on disk; the apiserver serves them at addresses that it signs. */
export const folderStore = ({ dir, publicUrl }: FolderSettings, signer: Signer): FileStore => {
  const pathOf = (key: string): string => join(dir, asKey(key));
  return {
    kind: "folder",
    write: (key, content, { signal }) => write(pathOf(key), content, signal),
    read: (key, { offset = 0, signal }) => read(pathOf(key), offset, signal),
    sizeOf: async (key) => (await known(stat(pathOf(key))))?.size ?? null,
    remove: (key) => tried(rm(pathOf(key), { force: true })),
    removeOld: (prefix, before, signal) => tried(removeOld(dir, prefix, before, signal)),
    addressOf: async (key, download) => addressIn(publicUrl, signer, { key: asKey(key), ...download }),
    check: () => tried(mkdir(dir, { recursive: true, mode: 0o700 }).then(() => access(dir, constants.W_OK))),
    close: async () => undefined,
  };
};

/** What is still being written bears another name: a kill leaves that, and never half a file. */
const unfinished = (path: string): string => `${path}.part`;

const write = async (path: string, content: Content, signal: AbortSignal): Promise<Written> => {
  await tried(mkdir(dirname(path), { recursive: true, mode: 0o700 }));
  const file = await tried(open(unfinished(path), "w", 0o600));
  try {
    const sizeBytes = await fill(file, content, signal);
    await tried(file.datasync());
    await file.close();
    await tried(rename(unfinished(path), path));
    return { sizeBytes };
  } catch (error) {
    await file.close().catch(() => undefined); // closed already, or as good as
    await unlink(unfinished(path)).catch(() => undefined); // else removeOld
    throw error;
  }
};

type File = Awaited<ReturnType<typeof open>>;

const fill = async (file: File, content: Content, signal: AbortSignal): Promise<number> => {
  let sizeBytes = 0;
  for await (const chunk of content) {
    signal.throwIfAborted();
    for (let from = 0; from < chunk.byteLength; )
      from += (await tried(file.write(chunk, from, chunk.byteLength - from))).bytesWritten;
    sizeBytes += chunk.byteLength;
  }
  return sizeBytes;
};

const read = async (path: string, offset: number, signal: AbortSignal): Promise<Content | null> => {
  const file = await known(open(path, "r"));
  return file === null ? null : bytesOf(createReadStream(path, { fd: file, start: offset }), signal);
};

async function* bytesOf(stream: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream) {
      signal.throwIfAborted();
      yield chunk;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw storeFault(error);
  }
}

/** Null when there is no such file. */
const known = <T>(call: Promise<T>): Promise<T | null> =>
  call.catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw storeFault(error);
  });

const tried = <T>(call: Promise<T>): Promise<T> =>
  call.catch((error: unknown) => {
    throw storeFault(error);
  });
