import type { GetObjectCommandOutput, S3 } from "@aws-sdk/client-s3";
import type { S3Row } from "#core/storage/warehouse/exports.ts";
import { type Destination, DestinationError, type DestinationFile } from "./destination.ts";
import { type GuardedAgents, type GuardedDeps, guardedAgents } from "./guarded-agents.ts";
import { s3Fault } from "./s3-faults.ts";
import { type StoreCalls, storeCalls } from "./store-calls.ts";

export type S3Secrets = { access_key_id?: string; secret_access_key?: string };

/** A bucket of S3, or of a store that speaks its protocol. The SDK is loaded with the first destination. */
export const s3Destination = async (deps: GuardedDeps, settings: S3Row, secrets: S3Secrets): Promise<Destination> => {
  const { S3 } = await import("./s3-sdk.ts");
  const { bucket: Bucket } = settings;
  const url = new URL(settings.endpoint ?? `https://${Bucket}.s3.${settings.region}.amazonaws.com`);
  const agents = guardedAgents(deps, url);
  const s3 = new S3(configOf(settings, secrets, agents));
  const { ask, resolve } = storeCalls(deps, url, agents, s3Fault);
  const link: Link = { s3, settings, bucket: Bucket, ask };
  return {
    resolve,
    authenticate: async (signal) =>
      void (await ask((abortSignal) => s3.headBucket({ Bucket }, { abortSignal }), signal)),
    write: (file, mode, signal) => write(link, file, mode, signal),
    read: (key, mostBytes, signal) => read(link, key, mostBytes, signal),
    remove: async (Key, signal) =>
      void (await ask((abortSignal) => s3.deleteObject({ Bucket, Key }, { abortSignal }), signal)),
    list: async (Prefix, signal) => {
      const asked = { Bucket, Prefix, MaxKeys: 10 };
      const { Contents = [] } = await ask((abortSignal) => s3.listObjectsV2(asked, { abortSignal }), signal);
      return Contents.flatMap(({ Key }) => Key ?? []);
    },
    close: () => {
      s3.destroy();
      agents.close();
    },
  };
};

const configOf = (settings: S3Row, secrets: S3Secrets, agents: GuardedAgents) => ({
  region: settings.region,
  credentials: { accessKeyId: secrets.access_key_id ?? "", secretAccessKey: secrets.secret_access_key ?? "" },
  forcePathStyle: settings.path_style,
  ...(settings.endpoint !== null && { endpoint: settings.endpoint }),
  requestHandler: {
    httpAgent: agents.http,
    httpsAgent: agents.https,
    connectionTimeout: 5_000,
    requestTimeout: 60_000,
    throwOnRequestTimeout: true,
    socketTimeout: 60_000,
  },
  maxAttempts: 2, // a run that fails is tried again
  followRegionRedirects: false,
  // as core/storage/files/s3/client.ts has it
  requestChecksumCalculation: "WHEN_REQUIRED" as const,
  responseChecksumValidation: "WHEN_REQUIRED" as const,
});

type Link = Pick<StoreCalls, "ask"> & { s3: S3; settings: S3Row; bucket: string };

const write = async (
  { s3, bucket: Bucket, settings: { sse, kms_key_id: key }, ask }: Link,
  { key: Key, body: Body, contentType: ContentType }: DestinationFile,
  mode: "new" | "over",
  signal: AbortSignal,
): Promise<boolean> => {
  const object = {
    Bucket,
    Key,
    Body,
    ContentType,
    ...(sse !== "none" && { ServerSideEncryption: sse }),
    ...(key !== null && { SSEKMSKeyId: key }),
    ...(mode === "new" && { IfNoneMatch: "*" }),
  };
  try {
    await ask((abortSignal) => s3.putObject(object, { abortSignal }), signal);
  } catch (error) {
    if (nameOf(error) === "PreconditionFailed") return false;
    throw error;
  }
  const size = await sizeOf({ s3, ask }, { Bucket, Key }, signal);
  if (size !== Body.byteLength)
    throw new DestinationError("INTERNAL", `the store took ${Body.byteLength} bytes and has ${size ?? "none"} of them`);
  return true;
};

const read = async ({ s3, bucket: Bucket, ask }: Link, Key: string, mostBytes: number, signal: AbortSignal) => {
  let found: GetObjectCommandOutput;
  try {
    found = await ask((abortSignal) => s3.getObject({ Bucket, Key }, { abortSignal }), signal);
  } catch (error) {
    if (nameOf(error) === "NoSuchKey") return null;
    throw error;
  }
  const { Body, ContentLength: size = Number.POSITIVE_INFINITY } = found;
  if (Body === undefined || size > mostBytes) {
    await Body?.transformToWebStream().cancel();
    return null;
  }
  return Buffer.from(await ask(() => Body.transformToByteArray(), signal));
};

/** Undefined when there is no such file, although the store has just taken it. */
const sizeOf = async (
  { s3, ask }: Pick<Link, "s3" | "ask">,
  file: { Bucket: string; Key: string },
  signal: AbortSignal,
): Promise<number | undefined> => {
  try {
    return (await ask((abortSignal) => s3.headObject(file, { abortSignal }), signal)).ContentLength;
  } catch (error) {
    if (nameOf(error) === "NotFound") return undefined;
    throw error;
  }
};

/** The store's own name of a fault. */
const nameOf = (error: unknown): string | null =>
  error instanceof DestinationError && error.cause instanceof Error ? error.cause.name : null;
