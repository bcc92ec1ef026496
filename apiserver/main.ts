import { ApiserverConfig } from "#config/apiserver.ts";
import { systemClock } from "#core/domain/clock.ts";
import { batchOutbox } from "#core/queue/batch-outbox.ts";
import { eventPublisher } from "#core/queue/events.ts";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { outbox } from "#core/queue/outbox.ts";
import { subjects } from "#core/queue/subjects.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { dns } from "#core/runtime/http/resolve.ts";
import { watchDependencies } from "#core/runtime/metrics/dependencies.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { describeConfig, loadConfig } from "#core/runtime/process/config.ts";
import { healthServer } from "#core/runtime/process/health-server.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { startedCheck } from "#core/runtime/process/late-checks.ts";
import { type Part, runProgram } from "#core/runtime/process/lifecycle.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { bodyTemplates } from "#core/runtime/templates/body-templates.ts";
import { apiKeys } from "#core/storage/api-keys/api-keys.ts";
import { revokedTokens } from "#core/storage/api-keys/revoked-tokens.ts";
import { apps } from "#core/storage/apps/apps.ts";
import { directory } from "#core/storage/directory.ts";
import { eventBatches } from "#core/storage/events/batches.ts";
import { deliveryList } from "#core/storage/messages/delivery-list.ts";
import { messages } from "#core/storage/messages/messages.ts";
import { targets } from "#core/storage/messages/targets.ts";
import { usage } from "#core/storage/messages/usage.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { connectMongo } from "#core/storage/mongo/connect.ts";
import { openDatabase } from "#core/storage/open.ts";
import { subscriptionCounts } from "#core/storage/people/subscription-counts.ts";
import { subscriptions } from "#core/storage/people/subscriptions.ts";
import { users } from "#core/storage/people/users.ts";
import { type PlanRow, planCollection } from "#core/storage/plans/plans.ts";
import { connectRedis } from "#core/storage/redis/connect.ts";
import { keepCursorSecret } from "#core/storage/service/cursor-secret.ts";
import { replies } from "#core/storage/service/replies.ts";
import { removals } from "#core/storage/work/removals.ts";
import { authenticate } from "./access/authenticate.ts";
import { keyLookup } from "./access/key-lookup.ts";
import { app } from "./http/app.ts";
import { cursors } from "./http/pages.ts";
import { httpServer } from "./http/server.ts";
import { narrowLimit } from "./limits/narrow-limit.ts";
import { redisScript } from "./limits/redis-script.ts";
import { bucketScript, takeFrom, takeToken } from "./limits/take-token.ts";
import { activityTypeWiring } from "./live-activities/use-cases.ts";
import { useCases } from "./platform.ts";
import { eventStore } from "./publishing/event-store.ts";
import { lateNats } from "./publishing/late-nats.ts";
import { ring } from "./publishing/message-hints.ts";
import { peopleOutbox } from "./publishing/people-outbox.ts";
import { auditEvents } from "./settings/audit.ts";
import { webhookWiring } from "./webhooks/wiring.ts";

const mostApps = 10_000; // of one tenant, for counting its subscribers
const handOverMs = 5_000; // a request that is answered in the last moment keeps its reply by then

const config = loadConfig(ApiserverConfig, process.env);
const clock = systemClock;
const log = createLog({ program: "apiserver", level: config.logLevel });
const metrics = createMetrics("apiserver");
log.info({ config: describeConfig(ApiserverConfig, config) }, "config.loaded");

const mongo = connectMongo({
  url: config.mongodbUrl,
  database: config.mongodbDatabase,
  appName: "herald-apiserver",
  maxPoolSize: config.mongodbPoolSize,
});
const secrets = keyRing(config.keyRing);
const redis = connectRedis({ url: config.redisUrl });
const subjectsOf = subjects(config.natsPrefix);
const nats = lateNats({
  connect: () => connectNats({ url: config.natsUrl, name: "herald-apiserver", credentials: config.natsCredentials }),
  subjects: subjectsOf,
  log,
});
const messageRows = messages(mongo.db);

const publishing = eventPublisher({ publisher: nats, subjects: subjectsOf });
const events = outbox({
  rows: messageRows.rows,
  events: publishing,
  done: { status: { $in: ["completed", "failed", "cancelled"] } },
  log,
  metrics: metrics.queue,
});
const bell = ring({
  publisher: nats,
  subjects: subjectsOf,
  flush: async (row) => void (await events.flush(row)),
  log,
});

const people = peopleOutbox({ db: mongo.db, events: publishing, log, metrics: metrics.queue });
const batches = eventBatches(mongo.db);
const batchBox = batchOutbox({ batches, events: publishing, log, metrics: metrics.queue });
const eventsIn = eventStore({ batches, outbox: batchBox, clock, log });

const known = directory({ db: mongo.db, changes: nats, clock });
const keyOf = keyLookup({ keys: apiKeys(mongo.db), revoked: revokedTokens(mongo.db), changes: nats, clock });

const take = takeFrom({
  runScript: redisScript(redis, bucketScript),
  replicas: config.replicas,
  count: (decision, bucket) => metrics.rateDecisions.inc({ decision, bucket }),
  clock,
  log,
});
const limit = narrowLimit(take);
let cursorSecret = secrets.derive("cursors"); // until the stores are open: then the one that was kept first
const ofCursors = cursors(() => cursorSecret);
const templates = bodyTemplates();
const audit = auditEvents({ prepare: eventsIn.prepare, clock });
const plans = () => collectionOf<PlanRow>(mongo.db, planCollection).find().toArray();
const shared = { db: mongo.db, nats, audit, plans, clock };
const webhooks = webhookWiring({
  ...shared,
  subjects: subjectsOf,
  guard: addressGuard({ allow: config.allowedRanges, ports: config.allowedPorts }),
  resolve: dns(),
  templates,
  seal: secrets.seal,
  limit,
  unseal: secrets.open,
  cursors: ofCursors,
  log,
});
const use = useCases({
  directory: known,
  messages: messageRows,
  deliveries: deliveryList(mongo.db),
  users: users(mongo.db),
  subscriptions: subscriptions(mongo.db),
  removals: removals(mongo.db),
  publish: people,
  targets: targets(mongo.db),
  counts: subscriptionCounts(mongo.db),
  usage: usage(mongo.db),
  appIdsOf: async (tenantId) => (await apps(mongo.db).ofTenant(tenantId, mostApps)).map((row) => row._id),
  ring: bell.message,
  keepEvents: eventsIn.keep,
  countEvents: (outcome, n) => metrics.customEvents.inc({ outcome }, n),
  countAccepted: (outcome) => metrics.accepted.inc({ outcome }),
  cursors: ofCursors,
  limit,
  webhooks,
  activityTypes: activityTypeWiring(shared),
  firstDayMessages: config.firstDayMessages,
  once: {
    replies: replies(mongo.db),
    seal: secrets.seal,
    open: secrets.open,
    leaseMs: config.requestTimeoutSeconds * 1000 + handOverMs,
  },
  clock,
  log,
});

const rest = httpServer({
  host: config.httpHost,
  port: config.httpPort,
  drainMs: config.drainSeconds * 1000,
  clock,
  handler: (isStopping) =>
    app({
      use,
      authenticate: authenticate({ keyOf, tenant: known.tenant, plan: known.plan, clock }),
      takeToken: takeToken(take),
      edge: { perSecond: config.edgeRatePerSecond, burst: config.edgeBurst },
      trustedProxies: config.trustedProxies,
      timeoutMs: config.requestTimeoutSeconds * 1000,
      isStopping,
      clock,
      log,
      metrics,
    }).callback(),
});

const started = startedCheck();
watchDependencies(metrics.registry, { mongodb: mongo.ping, redis: () => redis.ping(), jetstream: nats.ping });
const health = healthServer({
  host: config.healthHost,
  port: config.healthPort,
  checks: { mongodb: mongo.ping, started: started.check },
  optional: { redis: () => redis.ping(), nats: nats.ping },
  registry: metrics.registry,
});

const stores: Part = {
  name: "stores",
  start: async (signal) => {
    await openDatabase(mongo, log, signal);
    cursorSecret = await keepCursorSecret(mongo.db, cursorSecret);
  },
  stop: async () => {
    redis.disconnect();
    await mongo.close();
  },
};

process.exit(
  await runProgram({
    log,
    graceMs: config.graceSeconds * 1000,
    parts: [health, stores, nats, events, people, batchBox, bell, eventsIn, templates, rest, started.part],
  }),
);
