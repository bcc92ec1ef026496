import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Db } from "mongodb";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { eventStream, formerEventStream, planStream } from "#core/queue/jetstream/topology.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import { testDir } from "../../../dev/files/paths.ts";
import { freePorts } from "../../../dev/processes/free-ports.ts";
import { type ServerProcess } from "../../../dev/processes/process.ts";
import { type AwaitedAnswer, type ProgramName, startProgram } from "../../../dev/processes/programs.ts";
import type { Credentials } from "../../../dev/simulators/kit/credentials.ts";
import { aPlan, seedTenant, testKeyRing } from "../rows/fixtures.ts";
import { testPartitioning } from "../rows/partitioning.ts";
import { lendDatabase } from "../servers/database.ts";
import { testTiming, testTimingName } from "../suite/soak.ts";
import { until } from "../until.ts";

export type SystemOptions = {
  mongodbUrl: string;
  natsUrl: string;
  redisUrl: string;
  /** Where APNs is, and the account and certificate that it knows. */
  apns: { url: string; credentials: Credentials };
  /** Settings for all programs beside those that the system itself gives. */
  env?: Record<string, string>;
  plan?: Partial<PlanRow>;
};

/** A program of the system: it can be killed and started again with the same settings. */
export type SystemProgram = Omit<ServerProcess, "pid"> & {
  url: string;
  /** Where /metrics and /readyz are. */
  healthUrl: string;
  restart: () => Promise<void>;
  pid: () => number;
  /** What it has written, line by line. */
  log: () => Promise<Record<string, unknown>[]>;
};

/** A seeded installation of its own database and prefix, and the means to run programs on it. */
export type System = {
  db: Db;
  prefix: string;
  app: AppRow;
  tenantId: string;
  token: string;
  start: (program: ProgramName, env?: Record<string, string>, awaited?: AwaitedAnswer) => Promise<SystemProgram>;
  /** The same installation for a new organisation, with an app and a key of its own. */
  another: () => Promise<System>;
  /** Waits until a message has ended. */
  ended: (messageId: string, withinMs: number) => Promise<MessageRow>;
  stop: () => Promise<void>;
};

let made = 0;

/** Prepares an installation as the operator would have: plan, stream, tenant, an app with APNs, a key. */
export const startSystem = async (options: SystemOptions): Promise<System> => {
  const name = `sys_${process.pid}_${++made}`;
  await mkdir(testDir, { recursive: true });
  const dir = await mkdtemp(join(testDir, "system-"));
  await writeFile(join(dir, "ca.pem"), options.apns.credentials.tls.cert);
  const { db, giveBack } = await lendDatabase(options.mongodbUrl);
  const organisation = await seedOrganisation(db, options);
  await makeStreams(options.natsUrl, name, aPlan(options.plan));

  const running: SystemProgram[] = [];
  let started = 0;
  const start: System["start"] = async (program, env = {}, awaited = "/readyz") => {
    const one = await runProgram({
      program,
      awaited,
      name: `${program}-${started++}`,
      dir,
      env: { ...settings(options, { name, database: db.databaseName, dir }), ...env },
    });
    running.push(one);
    return one;
  };
  const system: System = {
    db,
    prefix: name,
    ...organisation,
    start,
    another: async () => ({ ...system, ...(await seedOrganisation(db, options)) }),
    ended: (id, withinMs) => ended(db, id, withinMs),
    stop: async () => {
      await Promise.all(running.map((one) => one.kill()));
      await giveBack();
      await dropStreams(options.natsUrl, name);
      await rm(dir, { recursive: true, force: true });
    },
  };
  return system;
};

const seedOrganisation = async (
  db: Db,
  { plan = {}, apns }: SystemOptions,
): Promise<Pick<System, "app" | "tenantId" | "token">> => {
  const { app, token } = await seedTenant(db, { plan, app: { channels: {} } });
  const withApns = { ...app, channels: { ios_push: apnsAccount(app._id, apns.credentials) } };
  await db.collection<AppRow>("apps").replaceOne({ _id: app._id }, withApns);
  return { app: withApns, tenantId: app.tenant_id, token };
};

const apnsAccount = (appId: string, { apns }: Credentials): NonNullable<AppRow["channels"]["ios_push"]> => ({
  team_id: apns.teamId,
  key_id: apns.keyId,
  bundle_id: "dev.herald.test",
  environment: "production",
  private_key: keyRing(testKeyRing).seal(apns.privateKeyPem, `apps/${appId}/ios_push.private_key`),
});

/** What is the system's own on shared servers. */
type Named = { name: string; database: string; dir: string };

const settings = ({ mongodbUrl, natsUrl, redisUrl, apns, env }: SystemOptions, { name, database, dir }: Named) => ({
  HERALD_MONGODB_URL: mongodbUrl,
  HERALD_MONGODB_DATABASE: database,
  HERALD_NATS_URL: natsUrl,
  HERALD_NATS_PREFIX: name,
  HERALD_REDIS_URL: redisUrl,
  HERALD_KEY_RING: testKeyRing,
  HERALD_TIMING: testTimingName,
  HERALD_APNS_URL: apns.url,
  HERALD_APNS_CHANNELS_URL: apns.url,
  HERALD_HTTP_HOST: "127.0.0.1",
  HERALD_HEALTH_HOST: "127.0.0.1",
  HERALD_EDGE_RATE_PER_SECOND: "0",
  HERALD_ALLOWED_RANGES: "127.0.0.0/8", // where the mail servers of tests are
  NODE_EXTRA_CA_CERTS: join(dir, "ca.pem"),
  ...env,
});

type Run = { program: ProgramName; name: string; dir: string; env: Record<string, string>; awaited: AwaitedAnswer };

const runProgram = async ({ program, name, dir, env, awaited }: Run): Promise<SystemProgram> => {
  const [healthPort = 0, httpPort = 0] = await freePorts(2);
  const begin = () =>
    startProgram({ program, name, dir, healthPort, env: { ...env, HERALD_HTTP_PORT: String(httpPort) }, awaited });
  let current = await begin();
  return {
    url: `http://127.0.0.1:${httpPort}`,
    healthUrl: `http://127.0.0.1:${healthPort}`,
    pid: () => current.pid,
    log: async () => {
      const lines = (await readFile(join(dir, "logs", `${name}.log`), "utf8")).split("\n");
      return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    stop: () => current.stop(),
    kill: () => current.kill(),
    pause: () => current.pause(),
    resume: () => current.resume(),
    restart: async () => {
      current = await begin();
    },
  };
};

const makeStreams = async (url: string, prefix: string, plan: PlanRow): Promise<void> => {
  const nats = await connectNats({ url, name: prefix });
  const work = planStream(prefix, { name: plan._id, backlogPerTenant: plan.backlog_per_tenant }, testTiming);
  for (const spec of [work, eventStream(prefix, testTiming, testPartitioning), formerEventStream(prefix, testTiming)])
    await ensureStream(nats.jsm, spec);
  await nats.close();
};

const dropStreams = async (url: string, prefix: string): Promise<void> => {
  const nats = await connectNats({ url, name: prefix });
  for await (const { config } of nats.jsm.streams.list()) {
    if (config.name.startsWith(`${prefix}-`)) await nats.jsm.streams.delete(config.name);
  }
  await nats.close();
};

const ended = async (db: Db, id: string, withinMs: number): Promise<MessageRow> => {
  let row = null as MessageRow | null; // or it would be taken for null below
  const hasEnded = async (): Promise<boolean> => {
    row = await db.collection<MessageRow>("messages").findOne({ _id: id });
    return row !== null && row.completed_at !== null;
  };
  await until(hasEnded, withinMs).catch((cause: unknown) => {
    throw new Error(`${id} has not ended in ${withinMs} ms: ${row?.status}`, { cause });
  });
  return row!; // it has ended
};
