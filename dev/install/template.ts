import { execFile } from "node:child_process";
import { chown, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePorts } from "../processes/free-ports.ts";
import { inDebian, postgresIds } from "../servers/debian.ts";
import { programs, startPostgres, templateDir } from "../servers/postgres.ts";

const run = promisify(execFile);
const name = "new-template";

/** Makes the data folder that every PostgreSQL server here is a copy of: initialised, with DocumentDB's extensions. */
export const makeTemplate = async (root: string): Promise<void> => {
  const dir = join(root, "tmp");
  const data = join(dir, name);
  await initialise(root, data);
  const [port = 0] = await freePorts(1);
  const server = await startPostgres({ root, dir, name, port });
  try {
    // The index handler must be set before the first index is made: startPostgres sets it.
    const sql = "create extension documentdb cascade; create extension documentdb_extended_rum cascade";
    await inRoot(root, [
      "psql",
      "-h",
      "127.0.0.1",
      "-p",
      `${port}`,
      "-U",
      "postgres",
      "-v",
      "ON_ERROR_STOP=1",
      "-c",
      sql,
    ]);
  } finally {
    await server.stop();
  }
  await rename(data, templateDir(root));
};

const initialise = async (root: string, data: string): Promise<void> => {
  const { uid, gid } = postgresIds(root);
  await rm(data, { recursive: true, force: true });
  await mkdir(data, { mode: 0o700 });
  await chown(data, uid, gid);
  // Trust is safe here: the server listens on loopback only and holds development data.
  const options = ["-D", "/srv", "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"];
  await inRoot(root, [`${programs}/initdb`, ...options], data);
};

const inRoot = async (root: string, command: string[], data?: string): Promise<void> => {
  const [program = "", ...args] = inDebian({ root, asPostgres: true, command, ...(data ? { data } : {}) });
  await run(program, args);
};
