import { OperatorConfig } from "#config/operator.ts";
import { systemClock } from "#core/domain/clock.ts";
import { connectNats } from "#core/queue/connect.ts";
import { describeConfig, loadConfig } from "#core/runtime/config.ts";
import { runProgram } from "#core/runtime/lifecycle.ts";
import { createLog } from "#core/runtime/log.ts";
import { createMetrics } from "#core/runtime/metrics.ts";
import { dns } from "#core/runtime/resolve.ts";
import { connectMongo } from "#core/storage/connect.ts";
import { leaseTiming } from "./engine/lease.ts";
import { once } from "./once.ts";
import { endAs, optionsIn } from "./options.ts";
import { makeParts } from "./parts.ts";

const { isOnce, timeoutMs } = optionsIn(process.argv.slice(2));
const config = loadConfig(OperatorConfig, process.env);
const log = createLog({ program: "operator", level: config.logLevel, ...(isOnce && { destination: process.stderr }) });
log.info({ config: describeConfig(OperatorConfig, config) }, "config.loaded");

const mongo = connectMongo({
  url: config.mongodbUrl,
  database: config.mongodbDatabase,
  appName: "herald-operator",
  maxPoolSize: config.mongodbPoolSize,
});
const late = isOnce ? setTimeout(() => endAs(1, `no NATS within ${timeoutMs / 1000} s`), timeoutMs) : undefined;
const nats = await connectNats({
  url: config.natsUrl,
  name: "herald-operator",
  credentials: config.natsCredentials,
  log,
});
clearTimeout(late);

const { stores, health, announced, engine, resources } = makeParts({
  config,
  env: process.env,
  mongo,
  nats,
  log,
  metrics: createMetrics("operator"),
  clock: systemClock,
  resolve: dns(),
  leaseTiming,
});
const program = { log, graceMs: config.graceSeconds * 1000 };
const work = once({ engine, resources, timeoutMs, leaseMs: leaseTiming.leaseMs, print: console.log });

process.exit(
  await (isOnce
    ? runProgram({ ...program, parts: [stores, announced, engine], work })
    : runProgram({ ...program, parts: [stores, health, announced, engine] })),
);
