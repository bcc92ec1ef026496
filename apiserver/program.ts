import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { ApiserverConfig } from "#config/apiserver.ts";
import { systemClock } from "#core/domain/clock.ts";
import { partitioning as partitioningOf } from "#core/domain/webhooks/partitions.ts";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { subjects } from "#core/queue/subjects.ts";
import { watchDependencies } from "#core/runtime/metrics/dependencies.ts";
import { createProcessMetrics } from "#core/runtime/metrics/registry.ts";
import { describeConfig, loadConfig } from "#core/runtime/process/config.ts";
import { healthServer } from "#core/runtime/process/health-server.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { startedCheck } from "#core/runtime/process/late-checks.ts";
import { endWith, type Part, runProgram } from "#core/runtime/process/lifecycle.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { certificatesOf } from "#core/runtime/tls/certificates.ts";
import { openTracer } from "#core/runtime/tracing/open.ts";
import { apiKeys } from "#core/storage/api-keys/api-keys.ts";
import { revokedTokens } from "#core/storage/api-keys/revoked-tokens.ts";
import { directory } from "#core/storage/directory.ts";
import { filesPurpose } from "#core/storage/files/folder/address.ts";
import { openFiles } from "#core/storage/files/open.ts";
import { kidsOf } from "#core/storage/keys/check.ts";
import { boundedReads } from "#core/storage/mongo/bounded-reads.ts";
import { connectMongo } from "#core/storage/mongo/connect.ts";
import { openDatabase } from "#core/storage/open.ts";
import { devices } from "#core/storage/people/devices.ts";
import { connectRedis } from "#core/storage/redis/connect.ts";
import { keepCursorSecret } from "#core/storage/service/cursor-secret.ts";
import { replies } from "#core/storage/service/replies.ts";
import { heartbeat } from "#core/storage/status/heartbeat.ts";
import { authenticate } from "./access/authenticate.ts";
import { findDevice } from "./access/device.ts";
import { findApp } from "./access/find-app.ts";
import { verifyIdentity } from "./access/identity.ts";
import { keyLookup } from "./access/key-lookup.ts";
import { keyUses } from "./access/key-uses.ts";
import { smtpParts } from "./callbacks/smtp/open.ts";
import { features, outsides } from "./features.ts";
import { serviceVersion } from "./http/middleware/request-id.ts";
import { bodyMsOf } from "./http/middleware/routing.ts";
import { once } from "./http/once.ts";
import { requestTraces } from "./http/request-traces.ts";
import { app } from "./http/server/app.ts";
import { httpServer } from "./http/server/server.ts";
import { requireFeature } from "./limits/plan-rules.ts";
import { sharedBuckets } from "./limits/shared-buckets.ts";
import { takeFrom, takeToken } from "./limits/take-token.ts";
import { platform } from "./platform.ts";
import { lateNats } from "./publishing/late-nats.ts";
import { operatingTenant } from "./status/operating-tenant.ts";

const handOverMs = 5_000; // a request that is answered in the last moment keeps its reply by then

const config = loadConfig(ApiserverConfig, process.env);
const clock = systemClock;
const log = createLog({ program: "apiserver", level: config.logLevel });
const metrics = createProcessMetrics("apiserver");
log.info({ config: describeConfig(ApiserverConfig, config) }, "config.loaded");

const tracing = openTracer({
  settings: config,
  resource: {
    "service.name": "herald-apiserver",
    "service.instance.id": hostname(),
    "service.version": serviceVersion,
  },
  metrics: metrics.traces,
  log,
});
const mongo = connectMongo({
  url: config.mongodbUrl,
  database: config.mongodbDatabase,
  appName: "herald-apiserver",
  maxPoolSize: config.mongodbPoolSize,
  tls: certificatesOf(config.mongodbTlsDir, log),
  onCall: metrics.stores.timer("mongodb"),
});
const db = boundedReads(mongo.db, config.requestTimeoutSeconds * 1000); // what serves requests reads through it
const secrets = keyRing(config.keyRing);
const redis = connectRedis({
  url: config.redisUrl,
  tls: certificatesOf(config.redisTlsDir, log),
  onCall: metrics.stores.timer("redis"),
});
const subjectsOf = subjects(config.natsPrefix);
const partitioning = partitioningOf(config.eventPartitions);
const natsTls = certificatesOf(config.natsTlsDir, log);
const nats = lateNats({
  connect: () =>
    connectNats({
      url: config.natsUrl,
      name: "herald-apiserver",
      credentials: config.natsCredentials,
      tls: natsTls,
      onCall: metrics.stores.timer("jetstream"),
    }),
  subjects: subjectsOf,
  tracer: tracing.tracer,
  log,
});
const known = directory({ db, changes: nats, clock });
const keyOf = keyLookup({ keys: apiKeys(db), revoked: revokedTokens(db), changes: nats, clock });

const files = openFiles(config, {
  signer: secrets.signer(filesPurpose),
  clock,
  onCall: metrics.stores.timer("files"),
});
const take = takeFrom({
  takeShared: sharedBuckets(redis),
  replicas: config.replicas,
  count: (decision, bucket) => metrics.rateDecisions.inc({ decision, bucket }),
  clock,
  log,
});
const ofFiles = files.kind === "none" ? {} : { files: files.check };
const dependencies = { mongodb: mongo.ping, redis: () => redis.ping(), jetstream: nats.ping, ...ofFiles };
let cursorSecret = secrets.derive("cursors"); // until the stores are open: then the one that was kept first
const shared = platform({
  db,
  nats,
  directory: known,
  files,
  subjects: subjectsOf,
  partitioning,
  secrets,
  take,
  cursorSecret: () => cursorSecret,
  settings: config,
  stores: dependencies,
  mostStreams: config.inboxStreams,
  clock,
  log,
  metrics,
});

const routes = features.flatMap((feature) => feature.bind(shared));
const rest = httpServer({
  host: config.httpHost,
  port: config.httpPort,
  tls: certificatesOf(config.httpTlsDir, log),
  drainMs: config.drainSeconds * 1000,
  mostStreams: config.inboxStreams,
  bodyMs: bodyMsOf(routes),
  clock,
  handler: (isStopping) =>
    app({
      routes,
      outside: outsides.map(({ bind, ...said }) => ({ ...said, answer: bind(shared) })),
      authenticate: authenticate({ keyOf, tenant: known.tenant, plan: known.plan, clock }),
      findDevice: findDevice({
        ...known,
        devices: devices(db),
        verifyIdentity: verifyIdentity(clock),
        limit: shared.limit,
      }),
      used: keyUses({ keys: apiKeys(db), clock, log }),
      findApp: findApp(known),
      requireFeature: requireFeature(shared.plans),
      takeToken: takeToken(take),
      takeFrom: take,
      once: once({
        replies: replies(db),
        seal: secrets.seal,
        open: secrets.open,
        leaseMs: config.requestTimeoutSeconds * 1000 + handOverMs,
        clock,
      }),
      traces: requestTraces({
        ...tracing,
        ratio: config.traceRatio,
        callersPerSecond: config.callerTracesPerSecond,
        random: Math.random,
        clock,
      }),
      edge: { perSecond: config.edgeRatePerSecond, burst: config.edgeBurst },
      trustedProxies: config.trustedProxies,
      timeoutMs: config.requestTimeoutSeconds * 1000,
      publicUrl: config.publicUrl,
      isStopping,
      clock,
      log,
      metrics,
      countUsage: shared.countUsage,
    }).callback(),
});

const started = startedCheck();
watchDependencies(metrics.registry, dependencies);
const health = healthServer({
  host: config.healthHost,
  port: config.healthPort,
  checks: { mongodb: mongo.ping, started: started.check },
  optional: { redis: dependencies.redis, ...ofFiles, nats: nats.ping },
  registry: metrics.registry,
});

const stores: Part = {
  name: "stores",
  start: async (signal) => {
    await openDatabase({ mongo, log, kids: kidsOf(config), partitioning }, signal);
    cursorSecret = await keepCursorSecret(mongo.db, cursorSecret);
  },
  stop: async () => {
    redis.disconnect();
    await files.close();
    await mongo.close();
  },
};

const operating = operatingTenant({ db: mongo.db, name: config.operatingTenant, log });

const beating = heartbeat({
  db: mongo.db,
  program: "apiserver",
  holder: `${hostname()}/${process.pid}/${randomUUID()}`,
  registry: metrics.registry,
  clock,
  onError: (err) => log.warn({ err }, "heartbeat.failed"),
});

endWith(
  runProgram({
    log,
    graceMs: config.graceSeconds * 1000,
    parts: [
      health,
      ...tracing.parts,
      stores,
      operating,
      nats,
      beating,
      ...shared.parts,
      rest,
      ...smtpParts(shared, config),
      shared.inboxStreams.part,
      started.part,
    ],
  }),
);
