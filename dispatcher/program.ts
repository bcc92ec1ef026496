import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { DispatcherConfig } from "#config/dispatcher.ts";
import { systemClock } from "#core/domain/clock.ts";
import { timings } from "#core/domain/timing.ts";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { createProcessMetrics } from "#core/runtime/metrics/registry.ts";
import { describeConfig, loadConfig } from "#core/runtime/process/config.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { lateCheck, startedCheck } from "#core/runtime/process/late-checks.ts";
import { endWith, type Part, runProgram } from "#core/runtime/process/lifecycle.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { certificatesOf } from "#core/runtime/tls/certificates.ts";
import { openTracer } from "#core/runtime/tracing/open.ts";
import { filesPurpose } from "#core/storage/files/folder/address.ts";
import { openFiles } from "#core/storage/files/open.ts";
import { connectMongo } from "#core/storage/mongo/connect.ts";
import { parts } from "./parts.ts";
import { health } from "./platform.ts";

const config = loadConfig(DispatcherConfig, process.env);
const log = createLog({ program: "dispatcher", level: config.logLevel });
log.info({ config: describeConfig(DispatcherConfig, config) }, "config.loaded");

const metrics = createProcessMetrics("dispatcher");
const mongo = connectMongo({
  url: config.mongodbUrl,
  database: config.mongodbDatabase,
  appName: "herald-dispatcher",
  maxPoolSize: config.mongodbPoolSize,
  tls: certificatesOf(config.mongodbTlsDir, log),
  onCall: metrics.stores.timer("mongodb"),
});
const files = openFiles(config, {
  signer: keyRing(config.keyRing).signer(filesPurpose),
  clock: systemClock,
  onCall: metrics.stores.timer("files"),
});
const started = startedCheck();
const tracing = openTracer({
  settings: config,
  resource: { "service.name": "herald-dispatcher", "service.instance.id": hostname() },
  metrics: metrics.traces,
  log,
});

/** The health server answers while NATS is awaited. */
async function* all(): AsyncGenerator<Part> {
  const link = lateCheck();
  yield health({ config, mongo, files, metrics }, { jetstream: link.check, started: started.check });
  yield* tracing.parts;
  const nats = await connectNats({
    url: config.natsUrl,
    name: "herald-dispatcher",
    credentials: config.natsCredentials,
    tls: certificatesOf(config.natsTlsDir, log),
    log,
    onCall: metrics.stores.timer("jetstream"),
  });
  link.is(nats.ping);
  yield* parts({
    config,
    mongo,
    files,
    nats,
    log,
    metrics,
    tracer: tracing.tracer,
    clock: systemClock,
    random: Math.random,
    timing: timings[config.timing],
    holder: `${hostname()}/${process.pid}/${randomUUID()}`,
  });
  yield started.part;
}

endWith(runProgram({ log, graceMs: config.graceSeconds * 1000, parts: all() }));
