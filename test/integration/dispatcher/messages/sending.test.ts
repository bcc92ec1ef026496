import { expect } from "chai";
import { renderApns } from "#core/channels/ios-push/render.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { type AppRow, appCollection } from "#core/storage/apps/apps.ts";
import { directory } from "#core/storage/directory.ts";
import { chunks } from "#core/storage/messages/chunks.ts";
import { deliveries } from "#core/storage/messages/deliveries.ts";
import { type MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { startApns } from "../../../../dev/simulators/apns.ts";
import type { Simulator } from "../../../../dev/simulators/kit/control.ts";
import { makeCredentials } from "../../../../dev/simulators/kit/credentials.ts";
import { apns } from "../../../../dispatcher/channels/ios-push/apns.ts";
import { apnsTokens } from "../../../../dispatcher/channels/ios-push/apns-tokens.ts";
import { rendered } from "../../../../dispatcher/channels/kit/provider.ts";
import { senders } from "../../../../dispatcher/channels/registry.ts";
import { unsavedWindow } from "../../../../dispatcher/messages/delivery/window.ts";
import { type Pipeline, pipeline } from "../../../../dispatcher/messages/pipeline.ts";
import { http2Pool } from "../../../../dispatcher/net/http2/pool.ts";
import { aChunk, aMessage, anApp, aSubscription, suspensionsOf } from "../../../support/rows/work.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { aToken } from "../../../support/system/sending.ts";
import { until } from "../../../support/until.ts";

const credentials = makeCredentials();
const never = new AbortController().signal;
const log = createLog({ program: "dispatcher", level: "fatal" });
const recipients = 500;
const unsavedLimit = 50;

describe("a chunk that is being sent", function () {
  this.timeout(60_000);
  const db = testDatabase("sending");
  let simulator: Simulator;
  /** How far all clocks are ahead: a process that stood still finds its clock so far on. */
  let aheadMs = 0;
  let closing: (() => Promise<void>)[] = [];

  before(async () => {
    await db().collection<AppRow>(appCollection.name).insertOne(anApp());
  });
  beforeEach(async () => {
    aheadMs = 0;
    simulator = await startApns({ port: 0, tls: credentials.tls, keys: [credentials.apns] });
  });
  afterEach(async () => {
    for (const close of closing) await close();
    closing = [];
    await simulator.stop();
  });

  const clock = { now: () => new Date(Date.now() + aheadMs) };

  /** A dispatcher as far as sending goes, on the real store and provider. */
  const aDispatcher = (holder: string, cut = never): Pipeline => {
    const metrics = createMetrics("dispatcher");
    const open = () =>
      rendered(
        apns({
          account: { ...credentials.apns, bundleId: "com.example.app" },
          baseUrl: simulator.url,
          open: (options) => http2Pool({ ca: credentials.tls.cert, ...options }),
          tokens: apnsTokens(clock),
          clock,
        }),
        renderApns,
      );
    const accounts = senders({ open, clock, metrics, log });
    closing.push(accounts.close);
    return pipeline({
      db: db(),
      directory: directory({ db: db(), changes: { on: () => undefined }, clock }),
      senders: accounts,
      suspensions: suspensionsOf(),
      window: unsavedWindow(unsavedLimit),
      hints: { message: async () => undefined, chunk: async () => undefined },
      events: { publish: async () => true },
      outbox: { flush: async () => undefined },
      holder,
      openChunks: 4,
      stopping: cut,
      cut,
      metrics,
      log,
      clock,
      random: Math.random,
    });
  };

  /** A message with one chunk in the queue; the chunk's id. */
  const aQueuedChunk = async (name: string): Promise<string> => {
    const devices = Array.from({ length: recipients }, (_, n) =>
      aSubscription({ _id: `sub_${name}_${String(n).padStart(4, "0")}`, token: aToken() }),
    );
    const message = aMessage({ _id: `msg_${name}` });
    const ids = devices.map(({ _id }) => _id);
    const chunk = aChunk({ _id: `chk_${name}`, message_id: message._id, recipients: ids, fence: 0 });
    await db().collection<SubscriptionRow>(subscriptionCollection.name).insertMany(devices);
    await db().collection<MessageRow>(messageCollection.name).insertOne(message);
    await chunks(db()).rows.insertOne(chunk);
    return chunk._id;
  };

  it("is left to who took it over by a dispatcher that stood still for longer than its lease", async () => {
    const chunkId = await aQueuedChunk("still");
    simulator.script({ delay_ms: 1_000 });
    const halted = aDispatcher("halted").deliver(chunkId);
    await until(() => simulator.log.counts().received > 1, 20_000); // 1 is what APNs admits at first
    const begun = simulator.log.counts().received;
    aheadMs = 40_000;
    await halted;
    expect(simulator.log.counts().received, "begun before the lease was over").to.be.within(begun, unsavedLimit);

    simulator.script({});
    await aDispatcher("other").deliver(chunkId);
    const stored = await deliveries(db()).rows.find({ message_id: "msg_still" }).toArray();
    expect(stored.map(({ status }) => status)).to.deep.equal(Array.from({ length: recipients }, () => "sent"));
    expect(simulator.log.counts()).to.include({ addresses: recipients, repeated_keys: 0 });
  });

  it("is cut off when the grace is over: who may have been reached is uncertain, and not sent to by the next start", async () => {
    const chunkId = await aQueuedChunk("cut");
    simulator.script({ delay_ms: 20_000 });
    const cut = new AbortController();
    const stopped = aDispatcher("stopped", cut.signal).deliver(chunkId);
    await until(() => simulator.log.counts().received > 0, 20_000);
    cut.abort();
    await stopped;
    const { received } = simulator.log.counts();

    simulator.script({});
    await aDispatcher("next").deliver(chunkId);
    const stored = await deliveries(db()).rows.find({ message_id: "msg_cut" }).toArray();
    expect(stored.filter(({ uncertain }) => uncertain === true)).to.have.length(received);
    expect(stored.filter(({ status }) => status === "sent")).to.have.length(recipients);
    expect(simulator.log.counts()).to.include({ addresses: recipients, repeated_keys: 0 });
  });
});
