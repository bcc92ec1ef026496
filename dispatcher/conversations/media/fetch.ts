import { hash } from "node:crypto";
import type { InboundMedia } from "#core/channels/kit/inbound.ts";
import { jsonOf, textOf } from "#core/channels/kit/reading.ts";
import { keptMediaType, type MediaProblem, maxMediaBytes } from "#core/domain/conversations/media.ts";
import type { GuardedClient, GuardedReply } from "../../net/guarded/client.ts";
import type { MediaAccess } from "./access.ts";

export type FetchedMedia =
  | { kind: "fetched"; body: Buffer; mimeType: string; sha256: string }
  /** It is not to be had: trying again would not help. */
  | { kind: "failed"; problem: MediaProblem }
  /** It may be had later. */
  | { kind: "later"; problem: MediaProblem };

export type FetchMedia = (
  source: Pick<InboundMedia, "url" | "id" | "mimeType">,
  access: MediaAccess,
  signal: AbortSignal,
) => Promise<FetchedMedia>;

/** From the first look-up to the last byte. */
const timeoutMs = 30_000;
const mostRedirects = 3;
const mostLookUpBytes = 65_536;

/**
 * Fetches a file of a message from its provider, by the way of addresses that users give: nowhere private, at most
 * {@link maxMediaBytes} while it is read, within 30 s. Credentials go to the provider alone.
 */
export const fetchMedia =
  ({ request }: Pick<GuardedClient, "request">): FetchMedia =>
  async (source, access, signal) => {
    const ending = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const get = (url: URL, maxReplyBytes: number): Promise<GuardedReply> =>
      request({ ...wanted(url, access), maxReplyBytes }, ending);
    const found = await addressOf(source, access, get);
    return found instanceof URL ? follow(found, source.mimeType, get) : found;
  };

const wanted = (url: URL, { poolKey, headersFor }: MediaAccess) => ({
  url,
  method: "GET" as const,
  headers: headersFor(url),
  body: "",
  poolKey: `media ${poolKey}`,
  maxConnections: 4,
  mayRepeat: true,
  timeoutMs,
  connectTimeoutMs: 5_000,
});

type Get = (url: URL, maxReplyBytes: number) => Promise<GuardedReply>;

/** Where a file is: providers that give an id are asked for its address first. */
const addressOf = async (
  { url, id }: Pick<InboundMedia, "url" | "id">,
  { lookUp }: MediaAccess,
  get: Get,
): Promise<URL | FetchedMedia> => {
  if (url !== null) return URL.parse(url) ?? failed("address_refused");
  const place = id === null ? null : lookUp(id);
  if (place === null) return failed("not_found");
  const reply = await get(place, mostLookUpBytes);
  if (reply.kind !== "answered" || reply.status !== 200) return problemOf(reply);
  return URL.parse(textOf(jsonOf(reply.body), "url") ?? "") ?? failed("not_found");
};

const follow = async (first: URL, told: string | null, get: Get): Promise<FetchedMedia> => {
  let url = first;
  for (let hop = 0; hop <= mostRedirects; hop++) {
    const reply = await get(url, maxMediaBytes + 1);
    const next = reply.kind === "answered" && isRedirect(reply.status) ? reply.headers["location"] : undefined;
    if (next === undefined) return contentOf(reply, told);
    const to = URL.parse(next, url.href);
    if (to === null) return failed("address_refused");
    url = to;
  }
  return failed("address_refused");
};

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

/** What its server says of the type counts before what the message said. */
const contentOf = (reply: GuardedReply, told: string | null): FetchedMedia => {
  if (reply.kind !== "answered" || reply.status !== 200) return problemOf(reply);
  const { body, headers, broken } = reply;
  if (body.length > maxMediaBytes) return failed("too_large");
  if (broken !== null) return { kind: "later", problem: "unavailable" };
  const mimeType = keptMediaType(typeOf(headers["content-type"]) ?? told);
  if (mimeType === null) return failed("type_not_allowed");
  return { kind: "fetched", body, mimeType, sha256: hash("sha256", body) };
};

/** Null for one that says nothing. */
const typeOf = (header: string | undefined): string | null =>
  header === undefined || /^(application|binary)\/octet-stream/i.test(header) ? null : header;

const problemOf = (reply: GuardedReply): FetchedMedia => {
  if (reply.kind === "refused" || (reply.kind === "unreached" && reply.errorClass === "address_refused"))
    return failed("address_refused");
  if (reply.kind !== "answered") return { kind: "later", problem: "unavailable" };
  const isForGood = reply.status >= 400 && reply.status < 500 && ![401, 403, 408, 429].includes(reply.status);
  return isForGood ? failed("not_found") : { kind: "later", problem: "unavailable" };
};

const failed = (problem: MediaProblem): FetchedMedia => ({ kind: "failed", problem });
