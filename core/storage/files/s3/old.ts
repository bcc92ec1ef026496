import { removedAtOnce } from "../store.ts";
import type { S3Link } from "./client.ts";

/** Removes files, and ends uploads, that begin with `prefix` and are older than `before`; how many at most is in the contract. */
export const removeOld = async (link: S3Link, prefix: string, before: Date, signal: AbortSignal): Promise<number> => {
  const { ask, s3, bucket } = link;
  const uploads = await oldUploads(link, prefix, before, signal);
  for (const { Key, UploadId } of uploads)
    await ask((options) => s3.abortMultipartUpload({ Bucket: bucket, Key, UploadId }, options), signal);
  const files = await oldFiles(link, prefix, before, signal);
  // One by one: servers that speak S3 differ in what checksum they want with a list of keys.
  for (const Key of files) await ask((options) => s3.deleteObject({ Bucket: bucket, Key }, options), signal);
  return Math.max(uploads.length, files.length);
};

/** Ends every upload of one key. */
export const endUploads = async (link: S3Link, key: string, signal: AbortSignal): Promise<void> => {
  const { ask, s3, bucket } = link;
  const { Uploads = [] } = await ask((o) => s3.listMultipartUploads({ Bucket: bucket, Prefix: key }, o), signal);
  for (const { Key, UploadId } of Uploads)
    if (Key === key) await ask((o) => s3.abortMultipartUpload({ Bucket: bucket, Key, UploadId }, o), signal);
};

const oldUploads = async ({ ask, s3, bucket }: S3Link, prefix: string, before: Date, signal: AbortSignal) => {
  const query = { Bucket: bucket, Prefix: prefix, MaxUploads: removedAtOnce };
  const { Uploads = [] } = await ask((options) => s3.listMultipartUploads(query, options), signal);
  return Uploads.filter(({ Initiated }) => Initiated !== undefined && Initiated < before);
};

/** Pages until there are enough: files come by name, so that old ones may stand behind many that are young. */
const oldFiles = async ({ ask, s3, bucket }: S3Link, prefix: string, before: Date, signal: AbortSignal) => {
  const old: string[] = [];
  let ContinuationToken: string | undefined;
  do {
    const query = { Bucket: bucket, Prefix: prefix, ...(ContinuationToken !== undefined && { ContinuationToken }) };
    const page = await ask((options) => s3.listObjectsV2(query, options), signal);
    for (const { Key, LastModified } of page.Contents ?? [])
      if (Key !== undefined && LastModified !== undefined && LastModified < before) old.push(Key);
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken !== undefined && old.length < removedAtOnce);
  return old.slice(0, removedAtOnce);
};
