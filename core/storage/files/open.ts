import type { Clock } from "../../domain/clock.ts";
import type { Signer } from "../../domain/signer.ts";
import type { OnCall } from "../../runtime/metrics/stores.ts";
import { folderStore } from "./folder/store.ts";
import { s3Store } from "./s3/store.ts";
import { type FileStore, noFiles } from "./store.ts";
import { timedFiles } from "./timed.ts";

/** The settings by which an installation says where its files are: `FilesConfig` of config/shared.ts. */
export type FileSettings = {
  filesDir?: string;
  s3Bucket?: string;
  s3Prefix: string;
  s3Region: string;
  s3Endpoint?: string;
  s3PublicEndpoint?: string;
  s3AccessKeyId?: string;
  s3SecretAccessKey?: string;
  publicUrl: string;
};

/** The installation's store of files: S3 when a bucket is named, else a folder when one is, else none. */
export const openFiles = (settings: FileSettings, { signer, clock, onCall }: FilesDeps): FileStore => {
  const { filesDir, s3Bucket: bucket, publicUrl } = settings;
  if (bucket !== undefined) return timedFiles(s3Store({ ...s3Of(settings), bucket }, clock), onCall);
  return filesDir === undefined ? noFiles : timedFiles(folderStore({ dir: filesDir, publicUrl }, signer), onCall);
};

/** `onCall` gets the duration of each call that the store answered. */
type FilesDeps = { signer: Signer; clock: Clock; onCall?: OnCall };

const s3Of = (settings: FileSettings) => {
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = settings;
  return {
    prefix: settings.s3Prefix,
    region: settings.s3Region,
    endpoint: settings.s3Endpoint,
    publicEndpoint: settings.s3PublicEndpoint,
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey },
  };
};
