import type { BlockBlobClient, ContainerClient, RequestPolicyFactory } from "@azure/storage-blob";
import { readBounded } from "#core/runtime/http/read-bounded.ts";
import type { RunErrorCode } from "#core/schema/warehouse/export.ts";
import type { AzureBlobRow } from "#core/storage/warehouse/exports.ts";
import { type Destination, DestinationError, type DestinationFile } from "./destination.ts";
import { storeFault } from "./faults.ts";
import { type GuardedAgents, type GuardedDeps, guardedAgents } from "./guarded-agents.ts";
import { type StoreCalls, storeCalls } from "./store-calls.ts";

export type AzureSecrets = { sas_token?: string; account_key?: string };

/** A container of Azure Blob Storage. The SDK is loaded with the first destination. */
export const azureDestination = async (
  deps: GuardedDeps,
  { account, container, endpoint }: AzureBlobRow,
  { sas_token: sas, account_key: key }: AzureSecrets,
): Promise<Destination> => {
  const sdk = await import("./azure-sdk.ts");
  const url = new URL(endpoint ?? `https://${account}.blob.core.windows.net`);
  const agents = guardedAgents(deps, url);
  const credential =
    key === undefined ? new sdk.AnonymousCredential() : new sdk.StorageSharedKeyCredential(account, key);
  const pipeline = sdk.newPipeline(credential, { retryOptions: { maxTries: 2, tryTimeoutInMs: 60_000 } });
  pipeline.factories.push(throughAgents(agents, url));
  const blobs = new sdk.ContainerClient(addressOf(url, { account, container, endpoint }, sas), pipeline);
  const { ask, resolve } = storeCalls(deps, url, agents, azureFault);
  const link: Link = { blobs, ask };
  return {
    resolve,
    authenticate: async (signal) => void (await list(link, "", 1, signal)), // a signature may not show the container
    write: (file, mode, signal) => write(link, file, mode, signal),
    read: (name, mostBytes, signal) => read(link, name, mostBytes, signal),
    remove: async (name, signal) =>
      void (await ask((abortSignal) => blobs.getBlockBlobClient(name).deleteIfExists({ abortSignal }), signal)),
    list: (prefix, signal) => list(link, prefix, 10, signal),
    close: agents.close,
  };
};

/** With an endpoint of its own the account is the first part of the path, as in Azure's emulator and in Azure Stack. */
const addressOf = (url: URL, { account, container, endpoint }: Omit<AzureBlobRow, "type" | "prefix">, sas = "") => {
  const isOwnHost = endpoint === null || url.hostname.startsWith(`${account}.`);
  const path = isOwnHost ? container : `${account}/${container}`;
  return `${url.origin}/${path}${sas === "" ? "" : `?${sas.replace(/^\?/, "")}`}`;
};

/** Has the SDK connect as it is judged, and through no proxy. */
const throughAgents = (agents: GuardedAgents, { protocol }: URL): RequestPolicyFactory => ({
  create: (next) => ({
    sendRequest: (request) => {
      request.agent = protocol === "https:" ? agents.https : agents.http;
      return next.sendRequest(request);
    },
  }),
});

type Link = Pick<StoreCalls, "ask"> & { blobs: ContainerClient };

const write = async (
  { blobs, ask }: Link,
  { key, body, contentType }: DestinationFile,
  mode: "new" | "over",
  signal: AbortSignal,
): Promise<boolean> => {
  const blob = blobs.getBlockBlobClient(key);
  const options = {
    blobHTTPHeaders: { blobContentType: contentType },
    ...(mode === "new" && { conditions: { ifNoneMatch: "*" } }),
  };
  try {
    await ask((abortSignal) => blob.upload(body, body.byteLength, { ...options, abortSignal }), signal);
  } catch (error) {
    if (nameOf(error) === "BlobAlreadyExists") return false;
    throw error;
  }
  const size = await sizeOf({ ask }, blob, signal);
  if (size !== body.byteLength)
    throw new DestinationError("INTERNAL", `the store took ${body.byteLength} bytes and has ${size ?? "none"} of them`);
  return true;
};

/** Undefined when it is not there. */
const sizeOf = ({ ask }: Pick<Link, "ask">, blob: BlockBlobClient, signal: AbortSignal): Promise<number | undefined> =>
  ask(async (abortSignal) => {
    try {
      return (await blob.getProperties({ abortSignal })).contentLength;
    } catch (error) {
      if (statusOf(error) === 404 && codeOf(error) !== "ContainerNotFound") return undefined; // a HEAD may name no fault
      throw error;
    }
  }, signal);

const read = async ({ blobs, ask }: Link, key: string, mostBytes: number, signal: AbortSignal) =>
  ask(async (abortSignal) => {
    try {
      const { readableStreamBody: stream, contentLength: size = Number.POSITIVE_INFINITY } = await blobs
        .getBlockBlobClient(key)
        .download(0, undefined, { abortSignal });
      if (stream === undefined) return null;
      if (size <= mostBytes) return await readBounded(stream as AsyncIterable<Uint8Array>, mostBytes);
      stream.on("error", () => undefined); // it ends with the abort below
      if ("destroy" in stream && typeof stream.destroy === "function") stream.destroy();
      return null;
    } catch (error) {
      if (codeOf(error) === "BlobNotFound") return null;
      throw error;
    }
  }, signal);

const list = ({ blobs, ask }: Link, prefix: string, most: number, signal: AbortSignal): Promise<string[]> =>
  ask(async (abortSignal) => {
    const pages = blobs.listBlobsFlat({ prefix, abortSignal }).byPage({ maxPageSize: most });
    const { value } = await pages.next();
    return value?.segment.blobItems.map(({ name }: { name: string }) => name) ?? [];
  }, signal);

/** Source: https://learn.microsoft.com/rest/api/storageservices/blob-service-error-codes (2026-11-27) */
const byName: ReadonlyMap<string, RunErrorCode> = new Map([
  ["AuthenticationFailed", "AUTH"],
  ["InvalidAuthenticationInfo", "AUTH"],
  ["NoAuthenticationInformation", "AUTH"],
  ["AuthorizationFailure", "PERMISSION"],
  ["AuthorizationPermissionMismatch", "PERMISSION"],
  ["AuthorizationProtocolMismatch", "PERMISSION"],
  ["InsufficientAccountPermissions", "PERMISSION"],
  ["AccountIsDisabled", "PERMISSION"],
  ["ContainerNotFound", "NOT_FOUND"],
  ["ContainerBeingDeleted", "NOT_FOUND"],
  ["ServerBusy", "QUOTA"],
  ["AbortError", "NETWORK"],
]);

const azureFault = (error: unknown): DestinationError =>
  storeFault(
    error,
    { name: codeOf(error) ?? (error instanceof Error ? error.name : null), status: statusOf(error) },
    byName,
  );

/** The store's own name of a fault, as the SDK tells it. */
const codeOf = (error: unknown): string | null =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;

const statusOf = (error: unknown): number | null =>
  error instanceof Error && "statusCode" in error && typeof error.statusCode === "number" ? error.statusCode : null;

const nameOf = (error: unknown): string | null => (error instanceof DestinationError ? codeOf(error.cause) : null);
