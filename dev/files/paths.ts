import { join } from "node:path";

/** The checkout. */
export const rootDir = join(import.meta.dirname, "../..");
/** Everything that `make` installs, starts and logs: ignored by git, removed by `make clean`. */
export const devDir = join(rootDir, ".dev");
/** Programs that `make install` built. */
export const binDir = join(devDir, "bin");
/** Data, logs and pids of `make up` and `make demo`. */
export const stackDir = join(devDir, "stack");
/** The same for `make test`. */
export const testDir = join(devDir, "test");
/** The Debian root folder that holds PostgreSQL with DocumentDB. */
export const debianDir = join(devDir, "debian");

/** Path of an installed program. */
export const bin = (name: string): string => join(binDir, name);

/** What listens where: distance from the stack's first port. */
export const portOffsets = {
  ferretdb: 0,
  postgres: 1,
  ferretdbDebug: 2,
  nats: 3,
  natsMonitor: 4,
  redis: 5,
  etcd: 6,
  etcdPeer: 7,
  kubernetes: 8,
  s3: 9,
} as const;

/** First port of the stack of `make up`; PORT_BASE moves it, so that two checkouts can run side by side. */
export const portBase = (env: NodeJS.ProcessEnv = process.env): number => {
  const base = Number(env.PORT_BASE ?? 27_100);
  if (!Number.isInteger(base) || base < 1024 || base > 65_400) {
    throw new Error(`PORT_BASE must be a port from 1024 to 65400, not "${env.PORT_BASE}"`);
  }
  return base;
};

/** The test stack's ports lie above the development stack's. */
export const testPortBase = (env: NodeJS.ProcessEnv = process.env): number => portBase(env) + 50;
