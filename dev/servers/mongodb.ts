import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { bin } from "../files/paths.ts";
import { answersHttp, launch, type Server, type ServerOptions, type ServerProcess } from "../processes/process.ts";
import { startPostgres } from "./postgres.ts";

/** Ports of the two servers behind the MongoDB address. */
export type MongodbPorts = { port: number; postgresPort: number; debugPort: number };

/**
 * Starts a server that speaks MongoDB's protocol: FerretDB over PostgreSQL with DocumentDB. Both are stopped and killed
 * at the same time; paused, FerretDB alone stands still, which is what a client sees of it.
 */
export const startMongodb = async (options: ServerOptions & MongodbPorts): Promise<Server> => {
  const { dir, port, postgresPort, debugPort, name = "mongodb", detached = false, throwaway = false } = options;
  const postgres = await startPostgres({ dir, port: postgresPort, name: `${name}-postgres`, detached, throwaway });
  const ferretdb = await startFerretdb({ dir, name, detached }, { port, postgresPort, debugPort }).catch(
    async (error: unknown) => {
      await postgres.stop();
      throw error;
    },
  );
  return { ...asOneServer(ferretdb, postgres), url: `mongodb://127.0.0.1:${port}/?directConnection=true` };
};

type Started = Required<Pick<ServerOptions, "dir" | "name" | "detached">>;

const startFerretdb = (options: Started, ports: MongodbPorts): Promise<ServerProcess> => {
  const { dir, name } = options;
  const { port, postgresPort, debugPort } = ports;
  const stateDir = join(dir, name);
  mkdirSync(stateDir, { recursive: true });
  const listen = `--listen-addr=127.0.0.1:${port}`;
  const debug = `--debug-addr=127.0.0.1:${debugPort}`;
  const postgres = `--postgresql-url=postgres://postgres@127.0.0.1:${postgresPort}/postgres`;
  return launch({
    ...options,
    command: [bin("ferretdb"), listen, debug, postgres, `--state-dir=${stateDir}`, "--no-auth", "--telemetry=disable"],
    ports: [port, debugPort],
    marker: listen,
    isReady: () => answersHttp(`http://127.0.0.1:${debugPort}/debug/readyz`),
  });
};

const asOneServer = (ferretdb: ServerProcess, postgres: ServerProcess): Omit<Server, "url"> => ({
  pids: [ferretdb.pid, postgres.pid],
  stop: async () => {
    await ferretdb.stop();
    await postgres.stop();
  },
  kill: async () => {
    await Promise.all([ferretdb.kill(), postgres.kill()]);
  },
  pause: ferretdb.pause,
  resume: ferretdb.resume,
});
