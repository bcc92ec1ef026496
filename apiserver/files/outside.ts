import type { Clock } from "#core/domain/clock.ts";
import type { Signer } from "#core/domain/signer.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import { filesPrefix, filesPurpose, readAddress } from "#core/storage/files/folder/address.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { nowhere, type Outside, type OutsideReply, type OutsideRequest } from "../http/outside.ts";

/** Serves the files of an installation that keeps them in a folder, at addresses that it signed itself. */
export const downloads: Outside<{ files: FileStore; secrets: Pick<KeyRing, "signer">; clock: Clock }> = {
  prefix: filesPrefix,
  path: "/files/{key}",
  bind: ({ files, secrets, clock }) => download({ files, signer: secrets.signer(filesPurpose), clock }),
};

export type DownloadDeps = { files: Pick<FileStore, "kind" | "read" | "sizeOf">; signer: Signer; clock: Clock };

/** An address whose time is over, that somebody altered, or whose file is gone leads nowhere. */
export const download =
  ({ files, signer, clock }: DownloadDeps) =>
  async ({ method, target, signal }: OutsideRequest): Promise<OutsideReply> => {
    if (files.kind !== "folder" || (method !== "GET" && method !== "HEAD")) throw nowhere();
    const file = readAddress(target, signer, clock.now());
    const sizeBytes = file === null ? null : await files.sizeOf(file.key, signal);
    if (file === null || sizeBytes === null) throw nowhere();
    const headers = {
      "Content-Type": file.contentType,
      "Content-Disposition": `attachment; filename="${file.fileName}"`,
      "Cache-Control": "private, no-store",
      "X-Content-Type-Options": "nosniff",
    };
    const open = (end: AbortSignal) => files.read(file.key, { signal: end });
    return { status: 200, headers, body: "", long: method === "HEAD" ? { sizeBytes } : { sizeBytes, open } };
  };
