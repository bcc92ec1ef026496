import { createHash } from "node:crypto";
import type { RunErrorCode } from "#core/schema/warehouse/export.ts";
import type { GcsRow } from "#core/storage/warehouse/exports.ts";
import { type Call, type CallAnswer, callStore } from "./calls.ts";
import { type Destination, DestinationError, type DestinationFile } from "./destination.ts";
import { storeFault } from "./faults.ts";
import { type GoogleTokens, type GoogleTokensDeps, googleTokens } from "./google-tokens.ts";
import { guardedAgents } from "./guarded-agents.ts";
import { storeCalls } from "./store-calls.ts";

const mostAnswerBytes = 1_000_000;
const tries = 2; // a run that fails is tried again

/**
 * A bucket of Google Cloud Storage, by its JSON interface. Google's own client gives no way to judge the addresses of its
 * connections (docs/decisions/0175). Source: Google, Cloud Storage JSON API v1, resource Objects.
 */
export const gcsDestination = async (
  deps: GoogleTokensDeps,
  { bucket, endpoint }: GcsRow,
  { credentials_json: file = "" }: { credentials_json?: string },
): Promise<Destination> => {
  const url = new URL(endpoint ?? "https://storage.googleapis.com");
  const agents = guardedAgents(deps, url);
  const tokens = googleTokens(deps, file, url);
  const { ask, resolve } = storeCalls(deps, url, agents, gcsFault);
  const call = (given: Asked, signal: AbortSignal): Promise<CallAnswer> =>
    ask((late) => authorized({ ...given, url: addressOf(url, given) }, { agents, tokens }, late), signal);
  const link: Link = { call, objects: `/storage/v1/b/${encodeURIComponent(bucket)}/o`, bucket };
  return {
    resolve,
    authenticate: async (signal) => void (await list(link, "", 1, signal)), // who may write objects may not see the bucket
    write: (object, mode, signal) => write(link, object, mode, signal),
    read: async (key, mostBytes, signal) => {
      const query = { alt: "media" };
      const { status, body } = await call(
        { method: "GET", path: pathOf(link, key), query, mostBytes, may: [404] },
        signal,
      );
      return status === 404 ? null : body;
    },
    remove: async (key, signal) => void (await call({ method: "DELETE", path: pathOf(link, key), may: [404] }, signal)),
    list: (prefix, signal) => list(link, prefix, 10, signal),
    close: () => {
      agents.close();
      tokens.close();
    },
  };
};

type Asked = Partial<Call> &
  Pick<Call, "method"> & {
    path: string;
    query?: Record<string, string>;
    /** Statuses that are no fault. */
    may?: readonly number[];
  };

type Link = { call: (given: Asked, signal: AbortSignal) => Promise<CallAnswer>; objects: string; bucket: string };

const addressOf = (store: URL, { path, query = {} }: Asked): URL => {
  const url = new URL(path, store);
  url.search = new URLSearchParams(query).toString();
  return url;
};

const pathOf = ({ objects }: Link, key: string): string => `${objects}/${encodeURIComponent(key)}`;

type Means = { agents: ReturnType<typeof guardedAgents>; tokens: GoogleTokens };

/** Asks once more where the store failed, or did not take the token any more. @throws what the fault is made of */
const authorized = async (asked: Asked & { url: URL }, means: Means, signal: AbortSignal): Promise<CallAnswer> => {
  for (let left = tries - 1; ; left--) {
    const token = await means.tokens.current(signal);
    const headers = { ...asked.headers, authorization: `Bearer ${token}` };
    const answer = await callStore(means.agents, { mostBytes: mostAnswerBytes, ...asked, headers }, signal).catch(
      (error: unknown) => {
        if (left === 0 || signal.aborted) throw error;
        return null;
      },
    );
    if (answer === null) continue;
    if ((answer.status >= 200 && answer.status < 300) || asked.may?.includes(answer.status)) return answer;
    if (answer.status === 401) means.tokens.refused();
    if (left === 0 || !(answer.status === 401 || answer.status >= 500)) throw new RefusedByStore(answer);
  }
};

const write = async (
  { call, bucket }: Link,
  { key, body, contentType }: DestinationFile,
  mode: "new" | "over",
  signal: AbortSignal,
): Promise<boolean> => {
  const path = `/upload/storage/v1/b/${encodeURIComponent(bucket)}/o`;
  const query = { uploadType: "media", name: key, ...(mode === "new" && { ifGenerationMatch: "0" }) };
  const headers = { "content-type": contentType };
  const answer = await call({ method: "POST", path, query, headers, body, may: [412] }, signal);
  if (answer.status === 412) return false;
  const { size, md5Hash: sum } = jsonOf(answer);
  if (size !== String(body.byteLength))
    throw new DestinationError("INTERNAL", `the store took ${body.byteLength} bytes and has other ones`);
  if (sum !== undefined && sum !== createHash("md5").update(body).digest("base64"))
    throw new DestinationError("INTERNAL", "the store has other bytes than it took");
  return true;
};

const list = async ({ call, objects }: Link, prefix: string, most: number, signal: AbortSignal): Promise<string[]> => {
  const query = { prefix, maxResults: String(most), fields: "items(name)" };
  const { items = [] } = jsonOf(await call({ method: "GET", path: objects, query }, signal));
  if (!Array.isArray(items)) throw notGcs();
  return items.flatMap((item: { name?: unknown }) => (typeof item.name === "string" ? item.name : []));
};

/** @throws DestinationError for an answer that is no object of JSON */
const jsonOf = ({ body }: CallAnswer): { size?: unknown; md5Hash?: unknown; items?: unknown } => {
  try {
    const value: unknown = JSON.parse(body?.toString() ?? "");
    if (typeof value === "object" && value !== null) return value; // members are checked by the callers
  } catch {
    // the error below says it: the parser's own message quotes the text
  }
  throw notGcs();
};

const notGcs = (): DestinationError => new DestinationError("INTERNAL", "the store answers as Cloud Storage does not");

/** An answer that is a fault. */
class RefusedByStore extends Error {
  readonly status: number;
  readonly reason: string | null;
  constructor({ status, body }: CallAnswer) {
    super(`answered with ${status}`);
    this.name = "RefusedByStore";
    this.status = status;
    this.reason = /"reason":\s*"([A-Za-z]{1,64})"/.exec(body?.subarray(0, 4_096).toString() ?? "")?.[1] ?? null;
  }
}

/** Source: https://cloud.google.com/storage/docs/json_api/v1/status-codes (2026-11-27) */
const byName: ReadonlyMap<string, RunErrorCode> = new Map([
  ["authError", "AUTH"],
  ["rateLimitExceeded", "QUOTA"],
  ["userRateLimitExceeded", "QUOTA"],
  ["quotaExceeded", "QUOTA"],
]);

const gcsFault = (error: unknown): DestinationError =>
  error instanceof RefusedByStore
    ? storeFault(error, { name: error.reason, status: error.status }, byName)
    : storeFault(error, { name: error instanceof Error ? error.name : null, status: null }, byName);
