import { OperatorConfig } from "#config/operator.ts";
import { systemClock } from "#core/domain/clock.ts";
import { connectNats } from "#core/queue/connect.ts";
import { describeConfig, loadConfig } from "#core/runtime/config.ts";
import { runProgram } from "#core/runtime/lifecycle.ts";
import { createLog } from "#core/runtime/log.ts";
import { createMetrics } from "#core/runtime/metrics.ts";
import { connectMongo } from "#core/storage/connect.ts";
import { leaseTiming } from "./engine/leader.ts";
import { parts } from "./parts.ts";

const config = loadConfig(OperatorConfig, process.env);
const log = createLog({ program: "operator", level: config.logLevel });
log.info({ config: describeConfig(OperatorConfig, config) }, "config.loaded");

const mongo = connectMongo({
  url: config.mongodbUrl,
  database: config.mongodbDatabase,
  appName: "herald-operator",
  maxPoolSize: config.mongodbPoolSize,
});
const nats = await connectNats({
  url: config.natsUrl,
  name: "herald-operator",
  credentials: config.natsCredentials,
  log,
});

process.exit(
  await runProgram({
    log,
    graceMs: config.graceSeconds * 1000,
    parts: parts({
      config,
      env: process.env,
      mongo,
      nats,
      log,
      metrics: createMetrics("operator"),
      clock: systemClock,
      leaseTiming,
    }),
  }),
);
