import { LRUCache } from "lru-cache";
import type { Clock } from "#core/domain/clock.ts";
import { Unavailable } from "#core/errors.ts";
import { cached } from "#core/storage/settings/cached.ts";
import type { GuardedClient, GuardedReply } from "../net/guarded/client.ts";

const kept = { ttlMs: 3_600_000, max: 64 }; // a provider has a handful
const failedMs = { none: 60_000, away: 10_000 };
const mostFailed = 1_000;
const mostConnections = 4; // to a provider's host
const mostBytes = 16_384;

/** Gives the certificate (PEM) at an https address of a provider's; null when there is none. @throws Unavailable */
export type CertificateOf = (url: string, signal: AbortSignal) => Promise<string | null>;

export type CertificatesDeps = {
  request: GuardedClient["request"];
  /** What a dispatcher has fetched. */
  known: (url: string) => Promise<string | null>;
  clock: Clock;
};

/**
 * Fetches certificates of providers that no dispatcher has fetched, by the way of addresses that users give: one request
 * at a time for each. What fails is not tried again at once.
 */
export const certificates = ({ request, known, clock }: CertificatesDeps): CertificateOf => {
  const failures = new LRUCache<string, keyof typeof failedMs>({
    max: mostFailed,
    ttl: failedMs.none,
    ttlResolution: 0,
    perf: { now: () => clock.now().getTime() },
  });
  const load = async (url: string): Promise<string> => {
    const reply = await request(requestOf(url), AbortSignal.timeout(timeoutMs));
    const pem = certificateIn(reply);
    if (pem !== null) return pem;
    const failure = isAnswer(reply) ? "none" : "away";
    failures.set(url, failure, { ttl: failedMs[failure] });
    throw unavailable();
  };
  const fetched = cached({ load, ...kept, clock });
  const failed = (url: string): null => {
    if (failures.get(url) === "none") return null;
    throw unavailable();
  };
  return async (url, signal) => {
    const shared = await known(url);
    if (shared !== null) return shared;
    signal.throwIfAborted();
    return failures.has(url) ? failed(url) : fetched.get(url).catch(() => failed(url));
  };
};

const unavailable = (): Unavailable => new Unavailable("the provider's certificate");

const timeoutMs = 10_000;

const requestOf = (url: string) => ({
  url: new URL(url),
  method: "GET" as const,
  headers: {},
  body: "",
  poolKey: "certificates",
  maxConnections: mostConnections,
  mayRepeat: true,
  timeoutMs,
  connectTimeoutMs: 5_000,
  maxReplyBytes: mostBytes,
});

const certificateIn = (reply: GuardedReply): string | null => {
  if (reply.kind !== "answered" || reply.status !== 200 || reply.broken !== null) return null;
  const text = reply.body.toString("latin1");
  return text.includes("-----BEGIN CERTIFICATE-----") ? text : null;
};

/** Whether the provider said that there is none; else it may say something else later. */
const isAnswer = (reply: GuardedReply): boolean =>
  reply.kind === "answered" && reply.status < 500 && reply.status !== 429;

/** Shares each certificate once an hour, as it is fetched. */
export const sharing = (keep: (url: string, pem: string, now: Date) => Promise<void>, clock: Clock) => {
  const shared = new LRUCache<string, Promise<void>>({ max: kept.max, ttl: kept.ttlMs });
  return (url: string, pem: string): Promise<void> => {
    const under = shared.get(url) ?? keep(url, pem, clock.now());
    shared.set(url, under, { noUpdateTTL: true });
    under.catch(() => void shared.delete(url));
    return under;
  };
};
