import type { S3ClientConfig } from "@aws-sdk/client-s3";
import { type Download, storeFault } from "../store.ts";

export type S3Settings = {
  bucket: string;
  /** First part of every key, with its slash, so that a bucket can be shared; may be empty. */
  prefix: string;
  region: string;
  /** A server's own address; AWS's when left out. Such a server is asked by path (`/bucket/key`). */
  endpoint?: string | undefined;
  /** The same server as those reach it who download; the endpoint when left out. */
  publicEndpoint?: string | undefined;
  /** Left out, the SDK looks where AWS has its credentials: environment, web identity, instance. */
  credentials?: { accessKeyId: string; secretAccessKey: string } | undefined;
};

export type S3Link = Awaited<ReturnType<typeof openS3>>;

type CallOptions = { abortSignal: AbortSignal };

/** Loads the SDK and makes its clients; no connection is opened yet. */
export const openS3 = async (settings: S3Settings) => {
  const { S3, GetObjectCommand, getSignedUrl } = await import("./sdk.ts");
  const { endpoint, publicEndpoint = endpoint } = settings;
  const s3 = new S3(configOf(settings, endpoint));
  const signer = publicEndpoint === endpoint ? s3 : new S3(configOf(settings, publicEndpoint));
  return {
    s3,
    bucket: settings.bucket,
    /** Makes a call. @throws the signal's reason once it has aborted, and Unavailable for all that S3 answers else */
    ask: async <T>(call: (options: CallOptions) => Promise<T>, signal: AbortSignal): Promise<T> => {
      try {
        return await call({ abortSignal: signal });
      } catch (error) {
        signal.throwIfAborted();
        throw storeFault(error);
      }
    },
    /** An address signed for so many seconds. @throws Unavailable when there are no credentials to sign with */
    sign: async (key: string, { fileName, contentType }: Download, expiresIn: number): Promise<string> => {
      const command = new GetObjectCommand({
        Bucket: settings.bucket,
        Key: key,
        ResponseContentDisposition: `attachment; filename="${fileName}"`,
        ResponseContentType: contentType,
      });
      try {
        return await getSignedUrl(signer, command, { expiresIn });
      } catch (error) {
        throw storeFault(error);
      }
    },
    close: () => {
      s3.destroy();
      signer.destroy();
    },
  };
};

const configOf = ({ region, credentials }: S3Settings, endpoint: string | undefined): S3ClientConfig => ({
  region,
  ...(credentials && { credentials }),
  ...(endpoint !== undefined && { endpoint, forcePathStyle: true }), // servers of one's own seldom have names for buckets
  requestHandler: {
    connectionTimeout: 3_000,
    requestTimeout: 60_000,
    throwOnRequestTimeout: true,
    socketTimeout: 60_000,
  },
  maxAttempts: 3,
  // TLS and the signature of each body protect it already; many servers do not know the newer checksums.
  requestChecksumCalculation: "WHEN_REQUIRED",
  responseChecksumValidation: "WHEN_REQUIRED",
});
