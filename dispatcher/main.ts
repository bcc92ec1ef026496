import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { DispatcherConfig } from "#config/dispatcher.ts";
import { systemClock } from "#core/domain/clock.ts";
import { connectNats } from "#core/queue/connect.ts";
import { describeConfig, loadConfig } from "#core/runtime/config.ts";
import { runProgram } from "#core/runtime/lifecycle.ts";
import { createLog } from "#core/runtime/log.ts";
import { createMetrics } from "#core/runtime/metrics.ts";
import { connectMongo } from "#core/storage/connect.ts";
import { parts } from "./parts.ts";

const config = loadConfig(DispatcherConfig, process.env);
const log = createLog({ program: "dispatcher", level: config.logLevel });
log.info({ config: describeConfig(DispatcherConfig, config) }, "config.loaded");

const mongo = connectMongo({
  url: config.mongodbUrl,
  database: config.mongodbDatabase,
  appName: "herald-dispatcher",
  maxPoolSize: config.mongodbPoolSize,
});
const nats = await connectNats({
  url: config.natsUrl,
  name: "herald-dispatcher",
  credentials: config.natsCredentials,
  log,
});

process.exit(
  await runProgram({
    log,
    graceMs: config.graceSeconds * 1000,
    parts: parts({
      config,
      mongo,
      nats,
      log,
      metrics: createMetrics("dispatcher"),
      clock: systemClock,
      random: Math.random,
      holder: `${hostname()}/${process.pid}/${randomUUID()}`,
    }),
  }),
);
