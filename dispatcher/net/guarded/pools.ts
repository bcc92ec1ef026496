import type { Connection } from "./connection.ts";
import { type Failure, failures } from "./failures.ts";

/** What a request is given: a connection, leave to open one, or the reason why it gets none. */
export type Grant = Connection | "open" | Failure;

type Waiter = (grant: Grant) => void;

/** Connections to one origin for one owner; each carries one request at a time. */
export type Pool = {
  key: string;
  /** Connections at most, each with a request. */
  most: number;
  inUse: number;
  opening: number;
  /** How long one is in use for a request, ms: about as long as that of late; infinite before the first. */
  usedMs: number;
  /** When the last one was begun to be opened, ms. */
  lastOpenMs: number;
  /** Looks again for those who wait. */
  timer: NodeJS.Timeout | undefined;
  /** The one used last at the end. */
  idle: Connection[];
  /** Requests that wait, the longest waiting first. */
  waiting: Set<Waiter>;
};

const openEveryMs = { least: 5, most: 100 };

/** One after another as fast as it may be while nothing is known; else as there is little to be had by waiting. */
const spacingMs = ({ usedMs }: Pool): number =>
  Number.isFinite(usedMs) ? Math.min(Math.max(usedMs, openEveryMs.least), openEveryMs.most) : openEveryMs.least;

/**
 * Pools with at most `maxIdle` idle connections in all: those longest unused are closed first. Those who wait take what
 * comes first, a connection that becomes free or a new one. New ones are opened one at a time, the more slowly the longer a
 * request takes: a burst then needs few, and one to open costs as much as some requests.
 */
export const connectionPools = (maxIdle: number) => {
  const pools = new Map<string, Pool>();
  const idle = new Map<Connection, Pool>(); // longest unused first
  let most = maxIdle;

  const grant = (pool: Pool): Connection | "open" | null => {
    const kept = pool.idle.pop();
    if (kept !== undefined) {
      idle.delete(kept);
      kept.takenMs = performance.now();
      pool.inUse++;
      return kept;
    }
    if (pool.inUse + pool.opening >= pool.most) return null;
    const nowMs = performance.now();
    const inMs = pool.lastOpenMs + spacingMs(pool) - nowMs;
    if (inMs > 0) {
      pool.timer ??= setTimeout(() => {
        pool.timer = undefined;
        admit(pool);
      }, inMs);
      return null;
    }
    pool.lastOpenMs = nowMs;
    pool.opening++;
    return "open";
  };
  /** Gives what there is to those who wait, and forgets a pool that nobody uses. */
  const admit = (pool: Pool): void => {
    for (const waiter of pool.waiting) {
      const granted = grant(pool);
      if (granted === null) return;
      waiter(granted);
    }
    if (pool.inUse + pool.opening + pool.idle.length === 0) pools.delete(pool.key);
  };
  const forget = (connection: Connection): void => {
    const pool = idle.get(connection);
    if (pool === undefined) return;
    idle.delete(connection);
    pool.idle.splice(pool.idle.indexOf(connection), 1);
    admit(pool);
  };
  const discard = (connection: Connection): void => {
    forget(connection);
    connection.socket.destroy();
  };
  const discardBeyond = (count: number): void => {
    for (const longestUnused of idle.keys()) {
      if (idle.size <= count) return;
      discard(longestUnused);
    }
  };
  return {
    /** The pool of an owner and an origin. */
    of: (key: string, connections: number): Pool => {
      const pool = pools.get(key) ?? anew(key, connections);
      pools.set(key, pool);
      return pool;
    },
    /**
     * Waits for a connection, or for leave to open one, which must be followed by `opened` or `failed`; what is given is to
     * be kept in the end.
     */
    take: async (pool: Pool, signal: AbortSignal): Promise<Grant> =>
      signal.aborted ? failures.placeLate : (grant(pool) ?? waits(pool, signal)),
    opened: (pool: Pool): void => {
      pool.opening--;
      pool.inUse++;
      admit(pool);
    },
    /** `failure` is that of all who wait; null when only the one who opened has no time left. */
    failed: (pool: Pool, failure: Failure | null): void => {
      pool.opening--;
      if (failure !== null) for (const waiter of pool.waiting) waiter(failure);
      admit(pool);
    },
    /** Keeps a connection for the next request, unless it is closed. */
    keep: (pool: Pool, connection: Connection): void => {
      pool.inUse--;
      note(pool, performance.now() - connection.takenMs);
      if (!connection.socket.destroyed) {
        pool.idle.push(connection);
        idle.set(connection, pool);
      }
      admit(pool);
      discardBeyond(most);
    },
    forget,
    /** Closes what a pool has idle: its server closes what is unused. */
    closeIdle: (pool: Pool): void => {
      for (const connection of [...pool.idle]) discard(connection);
    },
    /** Closes all that is idle now or later. */
    close: (): void => {
      most = 0;
      discardBeyond(most);
    },
  };
};

const anew = (key: string, most: number): Pool => ({
  key,
  most,
  inUse: 0,
  opening: 0,
  usedMs: Number.POSITIVE_INFINITY,
  lastOpenMs: Number.NEGATIVE_INFINITY,
  timer: undefined,
  idle: [],
  waiting: new Set(),
});

const note = (pool: Pool, usedMs: number): void => {
  pool.usedMs = Number.isFinite(pool.usedMs) ? pool.usedMs * 0.8 + usedMs * 0.2 : usedMs;
};

const waits = (pool: Pool, signal: AbortSignal): Promise<Grant> => {
  const { promise, resolve } = Promise.withResolvers<Grant>();
  const waiter = (grant: Grant): void => {
    pool.waiting.delete(waiter);
    signal.removeEventListener("abort", late);
    resolve(grant);
  };
  const late = (): void => waiter(failures.placeLate);
  pool.waiting.add(waiter);
  signal.addEventListener("abort", late, { once: true });
  return promise;
};
