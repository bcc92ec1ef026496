import { type Semaphore, semaphore } from "#core/runtime/batching/bounded.ts";
import type { Connection } from "./connection.ts";

/** Idle connections to one origin for one owner, the one used last at the end, and the places of its requests. */
export type Pool = { key: string; places: Semaphore; users: number; idle: Connection[] };

export type Pools = {
  /** Waits for one of the pool's places; every call that resolves must be followed by one `leave`. */
  enter: (key: string, places: number, signal: AbortSignal) => Promise<Pool>;
  leave: (pool: Pool) => void;
  /** The connection that was used last of those that are idle. */
  take: (pool: Pool) => Connection | undefined;
  /** Keeps a connection for the next request, unless it is closed. */
  keep: (pool: Pool, connection: Connection) => void;
  /** To be called when a connection has closed. */
  forget: (connection: Connection) => void;
  /** Closes what is idle, and from now on what becomes so. */
  close: () => void;
};

/** Pools with at most `maxIdle` idle connections in all: those longest unused are closed first. */
export const connectionPools = (maxIdle: number): Pools => {
  const pools = new Map<string, Pool>();
  const idle = new Map<Connection, Pool>(); // longest unused first
  let most = maxIdle;

  const depart = (pool: Pool): void => {
    pool.users--;
    if (isEmpty(pool)) pools.delete(pool.key);
  };
  const forget = (connection: Connection): void => {
    const pool = idle.get(connection);
    if (pool === undefined) return;
    idle.delete(connection);
    pool.idle.splice(pool.idle.indexOf(connection), 1);
    if (isEmpty(pool)) pools.delete(pool.key);
  };
  const closeLongestUnused = (): void => {
    for (const connection of idle.keys()) {
      if (idle.size <= most) return;
      forget(connection);
      connection.socket.destroy();
    }
  };
  return {
    enter: async (key, places, signal) => {
      const pool = pools.get(key) ?? { key, places: semaphore(places), users: 0, idle: [] };
      pools.set(key, pool);
      pool.users++;
      try {
        await pool.places.acquire(signal);
      } catch (error) {
        depart(pool);
        throw error;
      }
      return pool;
    },
    leave: (pool) => {
      pool.places.release();
      depart(pool);
    },
    take: (pool) => {
      const connection = pool.idle.pop();
      if (connection !== undefined) idle.delete(connection);
      return connection;
    },
    keep: (pool, connection) => {
      if (connection.socket.destroyed) return;
      pool.idle.push(connection);
      idle.set(connection, pool);
      closeLongestUnused();
    },
    forget,
    close: () => {
      most = 0;
      closeLongestUnused();
    },
  };
};

const isEmpty = ({ users, idle }: Pool): boolean => users === 0 && idle.length === 0;
