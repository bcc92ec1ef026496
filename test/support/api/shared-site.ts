import { randomBytes } from "node:crypto";
import { type Db, MongoClient } from "mongodb";
import { seedTenant } from "../rows/fixtures.ts";
import { lendDatabase } from "../servers/database.ts";
import { type TestServers, testServers } from "../servers/servers.ts";
import { until } from "../until.ts";
import { type Api, checksOf, startApi } from "./api.ts";
import type { Tenant } from "./site.ts";

/** An apiserver with the settings that it has by itself. Files before and after this one use it too. */
export type SharedSite = {
  name: string;
  servers: TestServers;
  db: Db;
  api: Api;
  /** Another apiserver of the same installation, one for all files as well. */
  replica: () => Promise<Api>;
};

/**
 * As {@link useSite}, for files that ask what one organisation sees: all of a process share one apiserver and its database,
 * whose start costs more than most of their tests. They leave both as they found them; a plan has an id of its own.
 */
export const useSharedSite = (over: Parameters<typeof seedTenant>[1] = {}) => {
  const site = {} as SharedSite; // sound: filled before the first test
  const tenant = {} as Tenant; // sound: filled before the first test
  let client: MongoClient | undefined;
  before(async () => {
    const servers = await testServers();
    const { name, database, api } = await (started ??= start(servers));
    client = await MongoClient.connect(servers.mongodbUrl);
    const replica = () => (another ??= startApi(servers, { name, database }));
    Object.assign(site, { name, servers, db: client.db(database), api, replica });
    Object.assign(tenant, await seedTenant(site.db, over));
  });
  after(() => client?.close());
  return { site, tenant };
};

/** It ends with this process, as all that a test starts. */
let started: Promise<{ name: string; database: string; api: Api }> | undefined;
let another: Promise<Api> | undefined;

const start = async (servers: TestServers) => {
  const name = `api_${randomBytes(6).toString("hex")}`;
  const { db, client } = await lendDatabase(servers.mongodbUrl); // never given back
  await client.close();
  const api = await startApi(servers, { name, database: db.databaseName });
  await until(async () => (await checksOf(api)).checks["nats"] === "ok", 30_000);
  return { name, database: db.databaseName, api };
};
