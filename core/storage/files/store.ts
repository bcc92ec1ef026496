import { Unavailable } from "../../errors.ts";

/**
 * Where files are kept that are too large for documents: exports until they are downloaded, imports until they are
 * read. docs/reference/files.md says what an installation has to know of it.
 *
 * A key is a path such as `exports/app_…/exp_….csv`; its first part is one of {@link fileFolders}, its second the app.
 * Whatever the store itself cannot do now is an {@link Unavailable}: the same call may work later. What `content` or
 * `signal` throws passes through.
 */
export type FileStore = {
  /** `none`: this installation has no store of files, and every other verb but `close` is Unavailable. */
  kind: "s3" | "folder" | "none";
  /**
   * Writes a file whole or not at all, in bounded memory: two parts of 5 MiB, however long the content is. A file that
   * had this key is replaced in one step at the end. When it throws nothing is left, but for what
   * {@link FileStore.removeOld} finds after a kill. One at a time writes a key.
   */
  write: (key: string, content: Content, options: { contentType: string; signal: AbortSignal }) => Promise<Written>;
  /** A file's bytes from an offset on; null when there is no such file. Leaving the loop early closes it. */
  read: (key: string, options: { offset?: number; signal: AbortSignal }) => Promise<Content | null>;
  /** A file's size in bytes; null when there is no such file. */
  sizeOf: (key: string, signal: AbortSignal) => Promise<number | null>;
  /** Removes a file, if there is one. */
  remove: (key: string, signal: AbortSignal) => Promise<void>;
  /**
   * Removes what begins with a prefix and was written last before an instant: files, and what a killed process had
   * written of one. At most 1,000 of each: call it again while it gives 1,000 or more.
   */
  removeOld: (prefix: string, before: Date, signal: AbortSignal) => Promise<number>;
  /** An address at which anybody may download the file until `expiresAt`, at most 7 days ahead (SigV4's bound). */
  addressOf: (key: string, download: Download) => Promise<string>;
  /** Resolves when the store answers. */
  check: (signal: AbortSignal) => Promise<void>;
  close: () => Promise<void>;
};

export type Content = AsyncIterable<Uint8Array>;
export type Written = { sizeBytes: number };

/** What a browser is told of a file: the name it is saved under, and its type. */
export type Download = { fileName: string; contentType: string; expiresAt: Date };

/** What nouns keep files in. All of an app's files are below `<folder>/<app id>/`, and go with the app. */
export const fileFolders = ["exports", "imports", "conversations", "mails"] as const;

/**
 * How long a file is kept at most, by its folder: whatever is older was forgotten. An export can be had for a week; a file of a
 * conversation goes with its person, and else after 400 days. A mail is read within seconds, or tried again for hours.
 */
export const keptDays: Readonly<Record<(typeof fileFolders)[number], number>> = {
  exports: 8,
  imports: 31,
  conversations: 400,
  mails: 2,
};

/** What one call of `removeOld` removes at most. */
export const removedAtOnce = 1_000; // S3 lists and deletes as many in one request

/** What is uploaded in one request: S3 takes 10,000 parts of at least 5 MiB, so that a file has at most 48 GiB. */
export const partBytes = 5 * 1024 * 1024;

/** The store of an installation that has none. */
export const noFiles: FileStore = {
  kind: "none",
  write: () => Promise.reject(noStore()),
  read: () => Promise.reject(noStore()),
  sizeOf: () => Promise.reject(noStore()),
  remove: () => Promise.reject(noStore()),
  removeOld: () => Promise.reject(noStore()),
  addressOf: () => Promise.reject(noStore()),
  check: () => Promise.reject(noStore()),
  close: async () => undefined,
};

/** What a caller is told who needs a store of files where there is none. */
export const noStore = (): Unavailable => new Unavailable("a store of files (HERALD_S3_BUCKET or HERALD_FILES_DIR)");

/** What the store could not do, as its callers know it. */
export const storeFault = (cause: unknown): Unavailable => new Unavailable("the store of files", { cause });

/** @throws TypeError for what is no key of ours: nothing else may ever name a file */
export const asKey = (key: string): string => {
  const [folder, ...rest] = key.split("/");
  const isKnown = fileFolders.some((one) => one === folder);
  if (isKnown && rest.length > 0 && rest.every((part) => /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}$/.test(part))) return key;
  throw new TypeError(`not the key of a file: ${key.slice(0, 200)}`);
};
