import { makeEvent } from "#core/domain/events/make.ts";
import type { Spread } from "#core/domain/webhooks/partitions.ts";
import { announcer, changes } from "#core/queue/announce.ts";
import { eventPublisher } from "#core/queue/events.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { eventStream, formerEventStream, webhookConsumer } from "#core/queue/jetstream/topology.ts";
import { subjects } from "#core/queue/subjects.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { noTracer } from "#core/runtime/tracing/tracer.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { directory } from "#core/storage/directory.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type WebhookDeliveryRow, webhookDeliveryCollection } from "#core/storage/webhooks/deliveries.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import { type Receiver, type ReceiverAnswer, startReceiver } from "../../../dev/simulators/receiver.ts";
import { guardedClient } from "../../../dispatcher/net/guarded/client.ts";
import { webhookParts } from "../../../dispatcher/webhooks/webhook-parts.ts";
import { testKeyRing } from "../rows/fixtures.ts";
import { partitions, testPartitioning } from "../rows/partitioning.ts";
import { aWebhook } from "../rows/webhooks.ts";
import { suspensionsOf } from "../rows/work.ts";
import { testDatabase } from "../servers/database.ts";
import { testServers } from "../servers/servers.ts";
import { testTiming } from "../suite/soak.ts";
import { until } from "../until.ts";

const keys = keyRing(testKeyRing);
const secret = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;

/**
 * Dispatchers' part for webhooks, in this process, on real servers and a receiver of their own. To be made inside of a
 * `describe`; `name` is that of its database.
 */
export const webhookTests = (name: string) => {
  const prefix = `${name}_${process.pid}`;
  const names = subjects(prefix);
  const streams = [eventStream(prefix, testTiming, testPartitioning), formerEventStream(prefix, testTiming)];
  const db = testDatabase(name);
  let nats: Nats;
  let receiver: Receiver;
  let answers: Record<string, () => ReceiverAnswer>;
  let running: { parts: Part[]; stopping: AbortController }[] = [];
  let shiftMs = 0;
  let made = 0;
  const clock = { now: () => new Date(Date.now() + shiftMs) };

  before(async () => {
    nats = await connectNats({ url: (await testServers()).natsUrl, name: "webhooks test" });
    for (const spec of streams) await ensureStream(nats.jsm, spec);
  });
  beforeEach(async () => {
    answers = {};
    shiftMs = 0;
    receiver = await startReceiver({
      port: 0,
      secrets: [secret],
      answer: ({ path }) => answers[path]?.() ?? { status: 200 },
    });
  });
  afterEach(async () => {
    for (const { stopping } of running) stopping.abort();
    await receiver.stop();
    for (const { parts } of running) for (const part of parts.toReversed()) await part.stop(AbortSignal.timeout(3_000));
    running = [];
  });
  after(async () => {
    for (const { stream } of streams) await nats.jsm.streams.delete(stream.name);
    await nats.close();
  });

  const startDispatcher = async (holder: string, link: Nats = nats): Promise<void> => {
    const stopping = new AbortController();
    const metrics = createMetrics("dispatcher");
    const log = createLog({ program: "dispatcher", level: "fatal" });
    const common = {
      db: db(),
      holder,
      log,
      clock,
      natsReplicas: 1,
      timing: testTiming,
      partitioning: testPartitioning,
    };
    const news = changes({ nats: link, subjects: names });
    const webhooks = webhookParts({
      ...common,
      tracer: noTracer,
      nats: link,
      natsPrefix: prefix,
      subjects: names,
      metrics,
      changes: news,
      suspensions: suspensionsOf(),
      mail: null,
      countUsage: () => undefined,
      onSilent: () => undefined,
      peers: { are: () => undefined },
      directory: directory({ db: db(), changes: news, clock }),
      announcer: announcer({ nats: link, subjects: names }),
      client: guardedClient({ guard: addressGuard({ allow: ["127.0.0.1"] }) }),
      unseal: keys.open,
      random: () => 0,
    });
    const parts = [news, ...webhooks];
    for (const part of parts) await part.start(stopping.signal);
    running.push({ parts, stopping });
  };

  const endpoints = () => collectionOf<WebhookRow>(db(), webhookCollection);
  /** An endpoint of an app of its own, received at a path of its own. */
  const anEndpoint = async (over: Partial<WebhookRow> = {}): Promise<WebhookRow & { path: string }> => {
    const n = ++made;
    const [id, path] = [`whk_${n}`, `/${n}`];
    const sealed = keys.seal(secret, `webhooks/${id}/secret`);
    const row = aWebhook({ _id: id, app_id: `app_${n}`, url: `${receiver.url}${path}`, secret: sealed, ...over });
    await endpoints().insertOne({ ...row });
    return { ...row, path };
  };
  const events = (appId: string, count: number, from = 0): EventEnvelope[] =>
    Array.from({ length: count }, (_, n) =>
      makeEvent({
        kind: "delivery.sent",
        appId,
        subjectId: `dlv_${from + n}`,
        data: { n: from + n },
        at: clock.now(),
        from: [appId, String(from + n)],
      }),
    );
  const publish = (made: readonly EventEnvelope[], spread: Spread = 1) =>
    eventPublisher({
      partitioning: testPartitioning,
      publisher: publisher(nats),
      subjects: names,
      spreadOf: async () => spread,
    }).publish("ten_1", made);
  const arrived = (path: string) => receiver.received().filter((one) => one.path === path);
  const deliveriesOf = ({ _id }: WebhookRow) =>
    collectionOf<WebhookDeliveryRow>(db(), webhookDeliveryCollection).find({ endpoint_id: _id }).toArray();
  const endpointNow = ({ _id }: WebhookRow) => endpoints().findOne({ _id });
  /** Waits until all deliveries of an endpoint, of which there are some, have ended. */
  const settled = (one: WebhookRow): Promise<void> =>
    until(async () => {
      const rows = await deliveriesOf(one);
      return rows.length > 0 && rows.every(({ due_at: dueAt }) => dueAt === null);
    }, 20_000);

  return {
    db,
    prefix,
    names,
    keys,
    nats: () => nats,
    /** What a path answers; 200 when nothing is said. */
    answer: (path: string, how: () => ReceiverAnswer): void => {
      answers[path] = how;
    },
    shift: (ms: number): void => {
      shiftMs = ms;
    },
    startDispatcher,
    anEndpoint,
    events,
    publish,
    arrived,
    deliveriesOf,
    endpointNow,
    settled,
    /** Waits until every event is acknowledged. */
    allTaken: (withinMs?: number): Promise<void> =>
      until(async () => {
        const waiting = await Promise.all(
          partitions.map(async (partition) => {
            const info = await nats.jsm.consumers.info(
              eventStream(prefix, testTiming, testPartitioning).stream.name,
              webhookConsumer(partition),
            );
            return info.num_pending + info.num_ack_pending;
          }),
        );
        return waiting.every((count) => count === 0);
      }, withinMs),
  };
};
