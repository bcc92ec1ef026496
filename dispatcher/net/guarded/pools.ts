import { type Semaphore, semaphore } from "#core/runtime/batching/bounded.ts";
import type { Connection } from "./connection.ts";

/** Idle connections to one origin for one owner, the one used last at the end, and the places of its requests. */
export type Pool = { key: string; places: Semaphore; users: number; idle: Connection[] };

/**
 * Pools with at most `maxIdle` idle connections in all: those longest unused are closed first. A connection that has
 * closed is to be forgotten; after `close`, what becomes idle is closed, too.
 */
export const connectionPools = (maxIdle: number) => {
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
    /** Waits for one of the pool's places; every call that resolves must be followed by one `leave`. */
    enter: async (key: string, places: number, signal: AbortSignal): Promise<Pool> => {
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
    leave: (pool: Pool): void => {
      pool.places.release();
      depart(pool);
    },
    take: (pool: Pool): Connection | undefined => {
      const connection = pool.idle.pop(); // the one used last
      if (connection !== undefined) idle.delete(connection);
      return connection;
    },
    /** Keeps a connection for the next request, unless it is closed. */
    keep: (pool: Pool, connection: Connection): void => {
      if (connection.socket.destroyed) return;
      pool.idle.push(connection);
      idle.set(connection, pool);
      closeLongestUnused();
    },
    forget,
    close: (): void => {
      most = 0;
      closeLongestUnused();
    },
  };
};

const isEmpty = ({ users, idle }: Pool): boolean => users === 0 && idle.length === 0;
