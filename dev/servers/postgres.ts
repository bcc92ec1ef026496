import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chown, mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { debianDir } from "../files/paths.ts";
import { launch, type ServerOptions, type ServerProcess } from "../processes/process.ts";
import { inDebian, postgresIds } from "./debian.ts";

const run = promisify(execFile);

/** What DocumentDB needs of PostgreSQL. Without the last two every sorted query sorts all that matches. */
export const settings = [
  "shared_preload_libraries=pg_cron,pg_documentdb_core,pg_documentdb,pg_documentdb_extended_rum",
  "cron.database_name=postgres",
  "documentdb.useFileBasedPersistedCursors=on",
  "documentdb_core.enableCollation=on",
  "documentdb.alternate_index_handler_name=extended_rum",
  "enable_bitmapscan=off",
  "deadlock_timeout=100ms", // inserters of one unique key often wait for each other: a second each is what they would wait
] as const;

/**
 * For data that nobody misses; and so that plans of queries follow soon after a table has grown. A look at all tables of a
 * suite's databases costs tens of ms.
 */
const throwawaySettings = ["fsync=off", "autovacuum_naptime=5s", "autovacuum_vacuum_cost_delay=0"] as const;

/** Where PostgreSQL's programs are, inside the root folder. */
export const programs = "/usr/lib/postgresql/18/bin";

/** An initialised data folder with the extensions, made once at install and copied for each server. */
export const templateDir = (root: string): string => join(root, "var/lib/postgres-template");

/** Version of the DocumentDB extension in the root folder. */
export const documentdbVersion = (root = debianDir): string => {
  const control = readFileSync(join(root, "usr/share/postgresql/18/extension/documentdb.control"), "utf8");
  return /default_version = '([^']+)'/.exec(control)?.[1] ?? "unknown";
};

/** Starts PostgreSQL with DocumentDB on loopback; its data folder is made from the template when it is missing. */
export const startPostgres = async (
  options: ServerOptions & { port: number; root?: string },
): Promise<ServerProcess> => {
  const { dir, port, root = debianDir, name = "postgres", detached = false, throwaway = false } = options;
  const data = join(dir, name);
  await copyTemplate(root, data);
  const chosen = [...settings, ...(throwaway ? throwawaySettings : [])].flatMap((setting) => ["-c", setting]);
  const network = ["-p", `${port}`, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="];
  return launch({
    name,
    dir,
    detached,
    command: inDebian({
      root,
      data,
      asPostgres: true,
      tied: !detached,
      command: [`${programs}/postgres`, "-D", "/srv", ...network, ...chosen],
    }),
    ports: [port],
    marker: `postgres -D /srv -p ${port}`,
    isReady: (pid) => saysReady(data, pid),
    stopSignal: "SIGINT", // fast shutdown: does not wait for clients to leave
  });
};

const copyTemplate = async (root: string, data: string): Promise<void> => {
  if (existsSync(data)) return;
  if (!existsSync(templateDir(root))) throw new Error('PostgreSQL is not installed; run "make install"');
  await rm(`${data}.new`, { recursive: true, force: true });
  await mkdir(join(data, ".."), { recursive: true });
  await run("cp", ["-a", "--reflink=auto", templateDir(root), `${data}.new`]);
  const { uid, gid } = postgresIds(root);
  await chown(`${data}.new`, uid, gid);
  await rename(`${data}.new`, data);
};

/** PostgreSQL writes its pid into the first line of postmaster.pid and its state into the eighth. */
const saysReady = async (data: string, pid: number): Promise<boolean> => {
  const lines = (await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  return Number(lines[0]) === pid && lines[7]?.trim() === "ready";
};
