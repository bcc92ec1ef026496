import { OperatorConfig } from "#config/operator.ts";
import { systemClock } from "#core/domain/clock.ts";
import { timings } from "#core/domain/timing.ts";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { dns } from "#core/runtime/http/resolve.ts";
import { createProcessMetrics } from "#core/runtime/metrics/registry.ts";
import { describeConfig, loadConfig } from "#core/runtime/process/config.ts";
import { lateCheck, startedCheck } from "#core/runtime/process/late-checks.ts";
import { endWith, type Part, runProgram } from "#core/runtime/process/lifecycle.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { certificatesOf } from "#core/runtime/tls/certificates.ts";
import { kidsOf } from "#core/storage/keys/check.ts";
import { keyUses } from "#core/storage/keys/uses.ts";
import { connectMongo } from "#core/storage/mongo/connect.ts";
import { keysTable } from "./keys/print.ts";
import { once } from "./once.ts";
import { endAs, optionsIn } from "./options.ts";
import { health, makeParts } from "./parts.ts";

const { isOnce, isKeys, timeoutMs } = optionsIn(process.argv.slice(2));
const config = loadConfig(OperatorConfig, process.env);
const log = createLog({
  program: "operator",
  level: config.logLevel,
  ...((isOnce || isKeys) && { destination: process.stderr }),
});
log.info({ config: describeConfig(OperatorConfig, config) }, "config.loaded");

const timing = timings[config.timing];
const metrics = createProcessMetrics("operator");
const mongo = connectMongo({
  url: config.mongodbUrl,
  database: config.mongodbDatabase,
  appName: "herald-operator",
  maxPoolSize: config.mongodbPoolSize,
  tls: certificatesOf(config.mongodbTlsDir, log),
  onCall: metrics.stores.timer("mongodb"),
});
const program = { log, graceMs: config.graceSeconds * 1000 };

const make = async () => {
  const { natsUrl: url, natsCredentials: credentials } = config;
  const nats = await connectNats({
    url,
    name: "herald-operator",
    credentials,
    tls: certificatesOf(config.natsTlsDir, log),
    log,
    onCall: metrics.stores.timer("jetstream"),
  });
  const env = process.env;
  return makeParts({ config, env, mongo, nats, log, metrics, clock: systemClock, resolve: dns(), timing });
};

/** The health server comes first, so that it answers while the program waits for NATS. */
async function* all(): AsyncGenerator<Part> {
  const [jetstream, kubernetes, started] = [lateCheck(), lateCheck(), startedCheck()];
  const checks = { jetstream: jetstream.check, kubernetes: kubernetes.check, started: started.check };
  yield health({ config, mongo, metrics }, checks);
  const made = await make();
  jetstream.is(made.checks.jetstream);
  kubernetes.is(made.checks.kubernetes);
  yield* [made.stores, made.announced, made.mjml, made.engine, started.part];
}

const runOnce = async (): Promise<number> => {
  const late = setTimeout(() => endAs(1, `NATS or MongoDB not reached within ${timeoutMs / 1000} s`), timeoutMs);
  const { stores, announced, mjml, engine, resources } = await make();
  const judge = once({ engine, resources, timeoutMs, leaseMs: timing.leader.leaseMs, print: console.log });
  const work = (signal: AbortSignal): Promise<number> => {
    clearTimeout(late);
    return judge(signal);
  };
  return runProgram({ ...program, parts: [stores, announced, mjml, engine], work });
};

/** Prints what was last counted. It needs MongoDB alone, and starts although a key is missing. */
const runKeys = async (): Promise<number> => {
  const late = setTimeout(() => endAs(1, `MongoDB not reached within ${timeoutMs / 1000} s`), timeoutMs);
  await mongo.connect();
  console.log(keysTable(await keyUses(mongo.db).all(), kidsOf(config)));
  clearTimeout(late);
  await mongo.close();
  return 0;
};

const run = (): Promise<number> => {
  if (isKeys) return runKeys();
  return isOnce ? runOnce() : runProgram({ ...program, parts: all() });
};

endWith(run());
