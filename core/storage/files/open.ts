import type { Clock } from "../../domain/clock.ts";
import type { Signer } from "../../domain/signer.ts";
import { folderStore } from "./folder/store.ts";
import { s3Store } from "./s3/store.ts";
import { type FileStore, noFiles } from "./store.ts";

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
export const openFiles = (settings: FileSettings, { signer, clock }: { signer: Signer; clock: Clock }): FileStore => {
  const { filesDir, s3Bucket: bucket, publicUrl } = settings;
  if (bucket !== undefined) return s3Store({ ...s3Of(settings), bucket }, clock);
  return filesDir === undefined ? noFiles : folderStore({ dir: filesDir, publicUrl }, signer);
};

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
