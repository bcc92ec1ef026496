import type { Endpoint } from "./endpoint.ts";

export type Allowance = ReturnType<typeof allowance>;

/** Most deliveries of an endpoint that answers; it is given as many as it answers in a second. */
const mostRoom = 600;
/** What an endpoint is assumed to answer in a second at first. */
const firstPerSecond = 50;
/** While an endpoint answers, deliveries wait for their turn; once it has fallen silent, it may hang. */
const limitMs = { answering: 5_000, silent: 500, untrusted: 250 };
/** A queue that is behind for longer is not waited for: what its endpoint misses belongs into the store then. */
const catchUpMs = 15_000;
/** The rate is measured over so much: less the first time, when everything that comes waits for the measurement. */
const windows = { firstRequests: 40, ms: 1_000 };

/**
 * How many deliveries an endpoint may have in memory, and for how long: by how it has answered so far. One that is not
 * trusted is given no more than an answering one may have under way.
 */
export const allowance = (endpoint: Pick<Endpoint, "isTrusted" | "row">, beganMs: number) => {
  let lastMs = beganMs;
  let perSecond = firstPerSecond;
  let isFirst = true;
  let seen = anew();
  /** How long ago the last request ended, ms. */
  const quietMs = (nowMs: number): number => nowMs - lastMs;
  const isAnswering = (nowMs: number): boolean => endpoint.isTrusted() && quietMs(nowMs) < limitMs.silent;
  return {
    /** Takes note of a request that has ended; `waiting` deliveries still wait. */
    ended: (nowMs: number, request: { beganMs: number; waiting: number }): void => {
      lastMs = nowMs;
      if (seen.count++ === 0) seen.sinceMs = request.beganMs;
      seen.tookMs += nowMs - request.beganMs;
      if (request.waiting === 0) seen.wasIdle = true;
      const windowMs = nowMs - seen.sinceMs;
      if (windowMs < windows.ms && !(isFirst && seen.count >= windows.firstRequests)) return;
      const answered = (seen.count * 1_000) / Math.max(windowMs, 1);
      const could = (endpoint.row.max_in_flight * seen.count * 1_000) / Math.max(seen.tookMs, 1); // Little's law
      perSecond = Math.floor(seen.wasIdle ? Math.max(answered, could) : answered);
      seen = anew();
      isFirst = false;
    },
    quietMs,
    /** How many it answers in a second, as far as is known. */
    perSecond: (): number => perSecond,
    /** Deliveries in memory at once. */
    free: (): number => {
      const { max_in_flight: least } = endpoint.row;
      return endpoint.isTrusted() ? Math.max(Math.min(perSecond, mostRoom), least) : least;
    },
    /** How long a delivery may be in memory only, ms. */
    limitMs: (nowMs: number): number => {
      if (!endpoint.isTrusted()) return limitMs.untrusted;
      return isAnswering(nowMs) ? limitMs.answering : limitMs.silent;
    },
    /** Whether callers should wait although the queue has been behind for so long: the endpoint answers. */
    isWorthWaiting: (nowMs: number, behindMs: number): boolean => isAnswering(nowMs) && behindMs < catchUpMs,
  };
};

const anew = () => ({ sinceMs: 0, count: 0, tookMs: 0, wasIdle: false });
