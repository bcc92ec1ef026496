import type { CompletedPart } from "@aws-sdk/client-s3";
import { inParts } from "../in-parts.ts";
import { type Content, partBytes, type Written } from "../store.ts";
import type { S3Link } from "./client.ts";
import { endUploads } from "./old.ts";

type Writing = { contentType: string; signal: AbortSignal };

/**
 * Writes a file: what fits into one part in one request, else by a multipart upload, of which one part is sent while the
 * next one is filled. Uploads of the same key that a killed process left are ended first: what it may still be sending
 * can then not become the file any more.
 */
export const write = async (link: S3Link, key: string, content: Content, options: Writing): Promise<Written> => {
  const parts = inParts(content, partBytes);
  try {
    const { value: first } = await parts.next();
    if (first === undefined) throw new TypeError("content without a part"); // never: empty content has an empty one
    if (first.byteLength < partBytes) return await writeSmall(link, key, first, options);
    await endUploads(link, key, options.signal);
    return await upload(link, key, rest(first, parts), options);
  } finally {
    await parts.return(undefined); // so that the content is closed, too
  }
};

const writeSmall = async (
  { ask, s3, bucket }: S3Link,
  key: string,
  body: Uint8Array,
  { contentType, signal }: Writing,
): Promise<Written> => {
  const object = { Bucket: bucket, Key: key, Body: body, ContentType: contentType };
  await ask((options) => s3.putObject(object, options), signal);
  return { sizeBytes: body.byteLength };
};

async function* rest(first: Uint8Array, parts: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* parts;
}

const upload = async (
  link: S3Link,
  key: string,
  parts: AsyncGenerator<Uint8Array>,
  { contentType, signal }: Writing,
): Promise<Written> => {
  const { ask, s3, bucket } = link;
  const file = { Bucket: bucket, Key: key };
  const { UploadId } = await ask((o) => s3.createMultipartUpload({ ...file, ContentType: contentType }, o), signal);
  const uploading = { ...file, UploadId };
  try {
    const { sent, sizeBytes } = await sendParts(link, uploading, parts, signal);
    const whole = { ...uploading, MultipartUpload: { Parts: sent } };
    await ask((options) => s3.completeMultipartUpload(whole, options), signal);
    return { sizeBytes };
  } catch (error) {
    const abort = (): AbortSignal => AbortSignal.timeout(abortMs);
    await ask((options) => s3.abortMultipartUpload(uploading, options), abort()).catch(() => undefined); // else removeOld
    throw error;
  }
};

const abortMs = 10_000;

type Uploading = { Bucket: string; Key: string; UploadId: string | undefined };

const sendParts = async (
  { ask, s3 }: S3Link,
  uploading: Uploading,
  parts: AsyncGenerator<Uint8Array>,
  signal: AbortSignal,
): Promise<{ sent: CompletedPart[]; sizeBytes: number }> => {
  const sent: CompletedPart[] = [];
  let sizeBytes = 0;
  const send = async (PartNumber: number, Body: Uint8Array): Promise<void> => {
    const { ETag } = await ask((options) => s3.uploadPart({ ...uploading, PartNumber, Body }, options), signal);
    sent.push({ PartNumber, ETag });
    sizeBytes += Body.byteLength;
  };
  let inFlight = Promise.resolve();
  let number = 0;
  try {
    for await (const part of parts) {
      await inFlight;
      inFlight = send(++number, part);
      inFlight.catch(() => undefined); // it is awaited above or below
    }
  } finally {
    await inFlight;
  }
  return { sent, sizeBytes };
};
