import { randomBytes } from "node:crypto";
import { testDir } from "../../../dev/files/paths.ts";
import { freePorts } from "../../../dev/processes/free-ports.ts";
import { type ServerProcess } from "../../../dev/processes/process.ts";
import { startProgram } from "../../../dev/processes/programs.ts";
import { s3Settings } from "../../../dev/servers/s3.ts";
import { testKeyRing } from "../rows/fixtures.ts";
import { lendDatabase } from "../servers/database.ts";
import { type TestServers, testServers } from "../servers/servers.ts";
import { testTimingName } from "../suite/soak.ts";
import { until } from "../until.ts";
import { checkReply } from "./openapi-check.ts";

export type Reply = { status: number; headers: Headers; body: ReplyBody; text: string };

/** What tests read of replies. Each reply has been checked by the document, so a member that is read is there. */
export type ReplyBody = {
  id: string;
  status: string;
  data: ReplyBody[];
  next_cursor: string | null;
  has_more: boolean;
  recipients_estimate: number;
  subscriptions: ReplyBody[];
  subscription_id: string;
  error: { code: string; message: string; details: Record<string, unknown>; request_id: string };
  [member: string]: unknown;
};

export type Call = { token?: string; body?: unknown; headers?: Record<string, string>; raw?: string | Uint8Array };

export type Api = {
  url: string;
  healthUrl: string;
  process: ServerProcess;
  /** Makes a request; the reply has been checked by the OpenAPI document. */
  call: (method: string, path: string, call?: Call) => Promise<Reply>;
};

/** Starts one apiserver as a process on free ports. */
export const startApi = async (
  servers: Pick<TestServers, "mongodbUrl" | "natsUrl" | "redisUrl"> & Partial<Pick<TestServers, "s3Url">>,
  { name: installation, database = installation }: { name: string; database?: string },
  env: Record<string, string> = {},
): Promise<Api> => {
  const [port = 0, healthPort = 0] = await freePorts(2);
  const name = `apiserver-${port}`;
  const started = await startProgram({
    program: "apiserver",
    name,
    dir: testDir,
    healthPort,
    env: {
      HERALD_MONGODB_URL: servers.mongodbUrl,
      HERALD_MONGODB_DATABASE: database,
      HERALD_NATS_URL: servers.natsUrl,
      HERALD_NATS_PREFIX: installation,
      HERALD_REDIS_URL: servers.redisUrl,
      HERALD_KEY_RING: testKeyRing,
      HERALD_TIMING: testTimingName,
      ...(servers.s3Url !== undefined && { ...s3Settings(servers.s3Url), HERALD_S3_PREFIX: `${installation}/` }),
      HERALD_HTTP_HOST: "127.0.0.1",
      HERALD_HTTP_PORT: String(port),
      HERALD_HEALTH_HOST: "127.0.0.1",
      HERALD_EDGE_RATE_PER_SECOND: "0",
      ...env,
    },
  });
  const url = `http://127.0.0.1:${port}`;
  return { url, healthUrl: `http://127.0.0.1:${healthPort}`, process: started, call: caller(url) };
};

/** A database, a NATS prefix and a first apiserver of a test file's own, on the shared servers. */
export const installation = async (env: Record<string, string> = {}) => {
  const servers = await testServers();
  const name = `api_${randomBytes(6).toString("hex")}`;
  const { db, giveBack } = await lendDatabase(servers.mongodbUrl);
  const apis: Api[] = [];
  const start = async (over: Record<string, string> = {}): Promise<Api> => {
    const api = await startApi(servers, { name, database: db.databaseName }, { ...env, ...over });
    apis.push(api);
    await until(() => hasNats(api), natsMs);
    return api;
  };
  const api = await start();
  return {
    name,
    servers,
    db,
    api,
    /** Another replica. */
    start,
    close: async () => {
      await Promise.all(apis.map((one) => one.process.kill()));
      await giveBack();
    },
  };
};

/** An apiserver starts without NATS when that takes more than 2 s; an attempt to connect may take 3 s. */
const natsMs = 30_000;

const hasNats = async (api: Api): Promise<boolean> => (await checksOf(api)).checks["nats"] === "ok";

/** What an apiserver says of itself and its stores. */
export const checksOf = async ({ healthUrl }: Pick<Api, "healthUrl">) => {
  const reply = await fetch(`${healthUrl}/readyz`);
  const { checks } = (await reply.json()) as { checks: Record<string, string> }; // what the health server writes
  return { status: reply.status, checks };
};

export type Installation = Awaited<ReturnType<typeof installation>>;

const caller =
  (url: string): Api["call"] =>
  async (method, path, { token, body, headers = {}, raw } = {}) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(payload !== undefined && { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(payload !== undefined && { body: payload }),
    });
    const text = await response.text();
    const parsed: unknown = text === "" ? undefined : JSON.parse(text);
    const overridden = headers["X-HTTP-Method-Override"];
    if (method !== "HEAD") checkReply(overridden ?? method, new URL(url + path).pathname, response.status, parsed);
    return { status: response.status, headers: response.headers, body: parsed as ReplyBody, text };
  };
