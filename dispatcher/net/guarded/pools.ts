import type { Connection } from "./connection.ts";
import { Pool } from "./pool.ts";

/**
 * Pools with at most `maxIdle` idle connections in all: those longest unused are closed first. A connection that has
 * closed is to be forgotten; after `close`, what becomes idle is closed, too.
 */
export const connectionPools = (maxIdle: number) => {
  const pools = new Map<string, Pool>();
  const idle = new Map<Connection, Pool>(); // longest unused first
  let most = maxIdle;

  const forget = (connection: Connection): void => {
    const pool = idle.get(connection);
    pool?.forget(connection);
    if (pool?.isEmpty) pools.delete(pool.key);
  };
  const closeLongestUnused = (): void => {
    for (const connection of idle.keys()) {
      if (idle.size <= most) return;
      forget(connection);
      connection.socket.destroy();
    }
  };
  return {
    /** Runs a request with the pool of an owner and an origin, which has at most so many connections. */
    using: async <T>(key: string, connections: number, request: (pool: Pool) => Promise<T>): Promise<T> => {
      const pool = pools.get(key) ?? new Pool(key, connections, idle);
      pools.set(key, pool);
      pool.users++;
      try {
        return await request(pool);
      } finally {
        pool.users--;
        closeLongestUnused();
        if (pool.isEmpty) pools.delete(key);
      }
    },
    forget,
    close: (): void => {
      most = 0;
      closeLongestUnused();
    },
  };
};
