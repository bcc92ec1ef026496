import type { Db } from "mongodb";
import { renderApns } from "#core/channels/ios-push/render.ts";
import type { Clock } from "#core/domain/clock.ts";
import { timings } from "#core/domain/timing.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { noTracer } from "#core/runtime/tracing/tracer.ts";
import { type AppRow, appCollection } from "#core/storage/apps/apps.ts";
import { directory } from "#core/storage/directory.ts";
import { type ChunkRow, chunkCollection } from "#core/storage/messages/chunks.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { startApns } from "../../../dev/simulators/apns.ts";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import { makeCredentials } from "../../../dev/simulators/kit/credentials.ts";
import { apns } from "../../../dispatcher/channels/ios-push/apns.ts";
import { apnsTokens } from "../../../dispatcher/channels/ios-push/apns-tokens.ts";
import { rendered } from "../../../dispatcher/channels/kit/provider.ts";
import { senders } from "../../../dispatcher/channels/registry.ts";
import { unsavedWindow } from "../../../dispatcher/messages/delivery/window.ts";
import { type Pipeline, type PipelineDeps, pipeline } from "../../../dispatcher/messages/pipeline.ts";
import { http2Pool } from "../../../dispatcher/net/http2/pool.ts";
import { suppressions } from "../../../dispatcher/suppressions/open.ts";
import { storedFacts } from "../filters/facts.ts";
import { testKeyRing } from "../rows/fixtures.ts";
import { aChunk, aMessage, anApp, aSubscription, suspensionsOf } from "../rows/work.ts";
import { testDatabase } from "../servers/database.ts";
import { testCredentials } from "./credentials.ts";
import { aToken } from "./sending.ts";

const credentials = testCredentials();
const { apns: unknown } = makeCredentials();
const unheard: PipelineDeps["events"] = { publish: async () => true };
const never = new AbortController().signal;
const log = createLog({ program: "dispatcher", level: "fatal" });

export type Pipelines = {
  db: () => Db;
  /** The APNs that all send to, fresh in each test. */
  simulator: () => Simulator;
  /** Has all clocks go ahead by so much: a process that stood still finds its clock so far on. */
  goAhead: (ms: number) => void;
  /** A dispatcher as far as sending goes, on the real store and provider; `cut` ends its grace. */
  aDispatcher: (holder?: string, cut?: AbortSignal, events?: PipelineDeps["events"]) => Pipeline;
  /** Stores devices of an app; their ids. */
  seeded: (name: string, count: number, appId?: string) => Promise<string[]>;
  /** A message to these, in one chunk of the queue; the chunk's id. */
  queued: (id: string, recipients: string[], change: Partial<MessageRow>) => Promise<string>;
  /** The deliveries of such a message. */
  stored: (id: string) => Promise<DeliveryRow[]>;
};

/** An app whose account APNs does not know. */
export const refusedAppId = "app_refused";

/** Dispatchers' pipelines for the tests of one `describe`, over a database of its own. To be made inside of it. */
export const usePipelines = (name: string, unsavedLimit: number): Pipelines => {
  const db = testDatabase(name);
  let simulator: Simulator;
  let aheadMs = 0;
  let closing: (() => Promise<void>)[] = [];
  const clock = { now: () => new Date(Date.now() + aheadMs) };

  before(async () => {
    await db()
      .collection<AppRow>(appCollection.name)
      .insertMany([anApp(), anApp({ _id: refusedAppId, name: refusedAppId })]);
  });
  beforeEach(async () => {
    aheadMs = 0;
    simulator = await startApns({ port: 0, tls: credentials.tls, keys: [credentials.apns], now: clock.now });
  });
  afterEach(async () => {
    for (const close of closing) await close();
    closing = [];
    await simulator.stop();
  });

  const open = ({ _id }: Pick<AppRow, "_id">) =>
    rendered(
      apns({
        account: { ...(_id === refusedAppId ? unknown : credentials.apns), bundleId: "com.example.app" },
        baseUrl: simulator.url,
        open: (options) => http2Pool({ ca: credentials.tls.cert, ...options }),
        tokens: apnsTokens(clock),
        clock,
      }),
      renderApns,
    );
  const aDispatcher = (holder = "one", cut = never, events = unheard): Pipeline => {
    const metrics = createMetrics("dispatcher");
    const accounts = senders({ open, peers: { count: () => 1 }, tracer: noTracer, clock, metrics, log });
    closing.push(accounts.close);
    return pipeline({
      tracer: noTracer,
      db: db(),
      factsOf: storedFacts(db(), clock),
      directory: directory({ db: db(), changes: { on: () => undefined }, clock }),
      senders: accounts,
      suspensions: suspensionsOf(),
      suppressions: suppressions({ db: db(), secrets: keyRing(testKeyRing), clock, noteDoubted: () => undefined }),
      messageTemplates: { open: async () => null },
      window: unsavedWindow(unsavedLimit),
      hints: { message: async () => undefined, chunk: async () => undefined },
      events,
      outbox: { flush: async () => undefined },
      settle: async () => undefined,
      announcer: { changed: () => undefined },
      noticeInboxes: () => undefined,
      holder,
      openChunks: () => 8,
      aside: () => false,
      timing: timings.usual,
      stopping: cut,
      cut,
      metrics,
      log,
      clock,
      random: Math.random,
    });
  };
  return { db, simulator: () => simulator, goAhead: (ms) => (aheadMs = ms), aDispatcher, ...storing(db, clock) };
};

const storing = (db: () => Db, clock: Clock): Pick<Pipelines, "seeded" | "queued" | "stored"> => ({
  seeded: async (name, count, appId = anApp()._id) => {
    const devices = Array.from({ length: count }, (_, n) =>
      aSubscription({ _id: `sub_${name}_${n}`, app_id: appId, token: aToken() }),
    );
    await db().collection<SubscriptionRow>(subscriptionCollection.name).insertMany(devices);
    return devices.map(({ _id }) => _id);
  },
  queued: async (id, recipients, change) => {
    const message = aMessage({ _id: `msg_${id}`, started_at: clock.now(), ...change });
    await db().collection<MessageRow>(messageCollection.name).insertOne(message);
    const { _id: messageId, app_id } = message;
    const chunk = aChunk({ _id: `chk_${id}`, message_id: messageId, app_id, recipients, fence: 0 });
    await collectionOf<ChunkRow>(db(), chunkCollection).insertOne(chunk);
    return chunk._id;
  },
  stored: (id) =>
    collectionOf<DeliveryRow>(db(), deliveryCollection)
      .find({ message_id: `msg_${id}` })
      .toArray(),
});
