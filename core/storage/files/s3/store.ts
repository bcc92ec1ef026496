import type { Clock } from "../../../domain/clock.ts";
import { asKey, type Content, type Download, type FileStore, storeFault } from "../store.ts";
import { openS3, type S3Link, type S3Settings } from "./client.ts";
import { removeOld } from "./old.ts";
import { write } from "./write.ts";

/** Files in a bucket of S3, or of a server that speaks its protocol. The SDK is loaded with the first call. */
export const s3Store = (settings: S3Settings, clock: Clock): FileStore => {
  let opened: Promise<S3Link> | null = null;
  const link = (): Promise<S3Link> => (opened ??= openS3(settings));
  const named = (key: string): string => `${settings.prefix}${asKey(key)}`;
  return {
    kind: "s3",
    write: async (key, content, options) => write(await link(), named(key), content, options),
    read: async (key, { offset = 0, signal }) => read(await link(), named(key), offset, signal),
    sizeOf: async (key, signal) => sizeOf(await link(), named(key), signal),
    remove: async (key, signal) => {
      const { ask, s3, bucket } = await link();
      await ask((options) => s3.deleteObject({ Bucket: bucket, Key: named(key) }, options), signal);
    },
    removeOld: async (prefix, before, signal) => removeOld(await link(), `${settings.prefix}${prefix}`, before, signal),
    addressOf: async (key, download) => (await link()).sign(named(key), download, secondsUntil(download, clock.now())),
    check: async (signal) => {
      const { ask, s3, bucket } = await link();
      await ask((options) => s3.headBucket({ Bucket: bucket }, options), signal);
    },
    close: async () => (await opened)?.close(),
  };
};

const read = async (link: S3Link, key: string, offset: number, signal: AbortSignal): Promise<Content | null> => {
  const { ask, s3, bucket } = link;
  const range = offset === 0 ? {} : { Range: `bytes=${offset}-` };
  const asked = ask((options) => s3.getObject({ Bucket: bucket, Key: key, ...range }, options), signal);
  const reply = await asked.catch(nullWhen("NoSuchKey", "InvalidRange"));
  if (reply !== null) return bytesOf(reply.Body as unknown as Content, signal); // sound: a Readable, on Node
  return offset > 0 && (await sizeOf(link, key, signal)) !== null ? nothing() : null; // behind its end nothing is left
};

async function* bytesOf(body: Content, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    signal.throwIfAborted();
    throw storeFault(error);
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

const sizeOf = async ({ ask, s3, bucket }: S3Link, key: string, signal: AbortSignal): Promise<number | null> => {
  const asked = ask((options) => s3.headObject({ Bucket: bucket, Key: key }, options), signal);
  return (await asked.catch(nullWhen("NotFound", "NoSuchKey")))?.ContentLength ?? null;
};

/** For `catch`: null for the answers of these names. */
const nullWhen =
  (...names: readonly string[]) =>
  (error: unknown): null => {
    const cause = error instanceof Error ? error.cause : null;
    if (cause instanceof Error && names.includes(cause.name)) return null;
    throw error;
  };

const secondsUntil = ({ expiresAt }: Download, now: Date): number =>
  Math.min(mostSeconds, Math.max(1, Math.floor((expiresAt.getTime() - now.getTime()) / 1_000)));

const mostSeconds = 604_800; // the longest life of an address signed by SigV4
