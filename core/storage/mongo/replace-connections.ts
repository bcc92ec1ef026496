import type { MongoClient } from "mongodb";

/** What of the driver (7.8.0) is used here and not in its types. */
type Topology = { s: { servers: Map<string, { pool: { generation: number }; monitor: Monitor | null }> } };
type Monitor = { s: { state: string }; connection: { destroy: () => void } | null };

/**
 * Has the client make new connections in place of all that it has: of a former generation each ends with the command that it
 * is used for, and the idle ones at once. The driver has no call for that; its own `pool.clear()` also refuses commands until
 * the server was asked anew.
 */
export const replaceConnections = (client: MongoClient): void => {
  const { topology } = client as unknown as { topology?: Topology }; // internal, and absent until the first connection
  for (const { pool, monitor } of topology?.s.servers.values() ?? []) {
    pool.generation += 1;
    if (monitor !== null) replaceMonitors(monitor);
  }
};

/**
 * A monitor whose connection is closed between two checks makes a new one for the next; one that is closed in a check takes
 * the server for lost. Of a server that tells by itself what changes (replicas) a check goes on all the time: that monitor
 * keeps its connection.
 */
const replaceMonitors = (monitor: Monitor, tries = 50): void => {
  if (monitor.s.state === "idle") monitor.connection?.destroy();
  else if (tries > 0) setTimeout(replaceMonitors, 100, monitor, tries - 1).unref();
};
