import type { EndpointLease } from "./endpoint-lease.ts";

/** How much an endpoint is given at once, and for how long: by how it has answered so far. */
export type Allowance = {
  /** A request has ended that began then; so many deliveries still wait. */
  ended: (nowMs: number, { beganMs, waiting }: { beganMs: number; waiting: number }) => void;
  /** Since the last one ended, ms. */
  quietMs: (nowMs: number) => number;
  /** How many it answers in a second, as far as is known. */
  perSecond: () => number;
  /** Deliveries in memory at once. */
  room: () => number;
  /** So long a delivery may be in memory only, ms. */
  limitMs: (nowMs: number) => number;
  /** Whether it can be waited for, when it has been behind for so long: it answers. */
  isWorthWaiting: (nowMs: number, behindMs: number) => boolean;
};

/** What an endpoint that answers is given at most; it is given what it answers in a second. */
const mostRoom = 600;
/** What it is thought to answer in a second at first. */
const firstPerSecond = 50;
/** While an endpoint answers, what waits does so for its turn; once it is silent, it may hang. */
const limitMs = { answering: 2_000, silent: 500, untrusted: 250 };
/** So much is looked at to know it: less the first time, when all that comes at once waits for it. */
const windows = { firstRequests: 40, ms: 1_000 };

/** An endpoint that failed last, or never answered, is given no more than it may have under way. */
export const allowance = (endpoint: Pick<EndpointLease, "isTrusted" | "row">, beganMs: number): Allowance => {
  let lastMs = beganMs;
  let perSecond = firstPerSecond;
  let isFirst = true;
  let seen = anew();
  const quietMs = (nowMs: number): number => nowMs - lastMs;
  const isAnswering = (nowMs: number): boolean => endpoint.isTrusted() && quietMs(nowMs) < limitMs.silent;
  return {
    ended: (nowMs, request) => {
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
    perSecond: () => perSecond,
    room: () => {
      const { max_in_flight: least } = endpoint.row;
      return endpoint.isTrusted() ? Math.max(Math.min(perSecond, mostRoom), least) : least;
    },
    limitMs: (nowMs) => {
      if (!endpoint.isTrusted()) return limitMs.untrusted;
      return isAnswering(nowMs) ? limitMs.answering : limitMs.silent;
    },
    isWorthWaiting: (nowMs, behindMs) => isAnswering(nowMs) && behindMs < limitMs.answering,
  };
};

const anew = () => ({ sinceMs: 0, count: 0, tookMs: 0, wasIdle: false });
