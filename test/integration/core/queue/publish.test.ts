import { expect } from "chai";
import { makeEvent } from "#core/domain/events/make.ts";
import { timings } from "#core/domain/timing.ts";
import { Unavailable } from "#core/errors.ts";
import { announcer, changes } from "#core/queue/announce.ts";
import { eventPublisher, gatheredEvents } from "#core/queue/events.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import {
  eventBatchesPerTenant,
  eventStream,
  jobStream,
  planStream,
  webhookConsumer,
} from "#core/queue/jetstream/topology.ts";
import { subjects } from "#core/queue/subjects.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { partitionOf, partitions, testPartitioning } from "../../../support/rows/partitioning.ts";
import { type PrivateServer, privateServers } from "../../../support/servers/servers.ts";
import { leastMs, until } from "../../../support/until.ts";
import { aQueue, openQueue } from "./helpers.ts";

describe("queue over NATS", () => {
  let server: PrivateServer;
  let close: () => Promise<void>;
  let nats: Nats;
  before(async () => {
    const servers = await privateServers({ nats: true });
    [server, close] = [servers.nats, servers.close];
    nats = await connectNats({ url: server.url, name: "test" });
  });
  beforeEach(() => until(() => nats.isConnected())); // a test before may have stopped the server
  after(async () => {
    await nats.close();
    await close();
  });

  describe("publisher", () => {
    let queue: Nats;
    beforeEach(async () => {
      queue = await openQueue(server.url, aQueue("publish", { perSubject: 3 }));
    });
    afterEach(() => queue.close());
    const stored = async (): Promise<number> => (await queue.jsm.streams.info("publish")).state.messages;

    it("stores one message for one id", async () => {
      const { publish } = publisher(queue);
      expect(await publish("publish.a", {}, { id: "1" })).to.equal("published");
      expect(await publish("publish.a", {}, { id: "1" })).to.equal("published");
      expect(await stored()).to.equal(1);
    });

    it("is refused for the tenant whose share is full, and not for the next", async () => {
      const { publish } = publisher(queue);
      const answers = [];
      for (let n = 0; n < 4; n++) answers.push(await publish("publish.a", { n }));
      answers.push(await publish("publish.b", {}));
      expect(answers).to.deep.equal(["published", "published", "published", "refused", "published"]);
    });

    it("is refused when no stream takes the subject", async () => {
      expect(await publisher(queue).publish("nobody.listens", {})).to.equal("refused");
    });

    it("throws Unavailable at once while NATS is away, and within 2 s when it is deaf, then works again", async () => {
      const { publish } = publisher(queue);
      const fail = async (): Promise<void> => {
        const error: unknown = await publish("publish.c", {}).catch((error: unknown) => error);
        expect(error).to.be.instanceOf(Unavailable);
      };
      server.pause();
      const deafMs = await leastMs(fail, { times: 2 });
      server.resume();
      expect(deafMs).to.be.below(4_500); // the client's own limit is 5 s
      await server.kill();
      await until(() => !queue.isConnected());
      expect(await leastMs(fail)).to.be.below(1_900); // it does not wait for the 2 s
      await server.start();
      await until(() => queue.isConnected());
      expect(await publish("publish.d", {})).to.equal("published");
    });
  });

  describe("ensureStream", () => {
    it("makes, leaves alone, changes, and repairs what was deleted", async () => {
      expect(await ensureStream(nats.jsm, plan(100))).to.equal("created");
      expect(await ensureStream(nats.jsm, plan(100))).to.equal("unchanged");
      expect(await ensureStream(nats.jsm, plan(200))).to.equal("updated");
      await nats.jsm.consumers.delete("ensure-work-free", "deliver");
      expect(await ensureStream(nats.jsm, plan(200))).to.equal("updated");
      await nats.jsm.streams.delete("ensure-work-free");
      expect(await ensureStream(nats.jsm, plan(200))).to.equal("created");
    });

    it("makes the topology from several programs at once", async () => {
      const specs = [
        eventStream("twice", timings.short, testPartitioning),
        jobStream("twice", timings.short),
        planStream("twice", { name: "pro", backlogPerTenant: 10 }, timings.short),
      ];
      const all = [1, 2, 3].map(async () => {
        for (const spec of specs) await ensureStream(nats.jsm, spec);
      });
      await Promise.all(all);
      for (const spec of specs) expect(await ensureStream(nats.jsm, spec), spec.stream.name).to.equal("unchanged");
    });
  });

  describe("eventPublisher", () => {
    const { stream: batches } = eventStream("batch", timings.short, testPartitioning);
    const of = (tenantId: string): string => `batch.app-events.16.${partitionOf("app_1")}.${tenantId}`;

    it("sends events of one tenant in batches of at most 100 or 64 KiB, every one once", async () => {
      await nats.jsm.streams.delete(batches.name).catch(() => false);
      await ensureStream(nats.jsm, eventStream("batch", timings.short, testPartitioning));
      const events = [
        ...Array.from({ length: 250 }, (_, n) => anEvent(n, "delivery.sent")),
        ...Array.from({ length: 10 }, (_, n) => anEvent(n, "message.completed", { size: 20_000 })),
      ];
      const { publish } = eventPublisher({
        partitioning: testPartitioning,
        publisher: publisher(nats),
        subjects: subjects("batch"),
      });
      for (let n = 0; n < 2; n++) expect(await publish("ten_1", events)).to.equal(true);
      const { messages } = (await nats.jsm.streams.info(batches.name)).state;
      const consumer = await nats.js.consumers.get(batches.name, webhookConsumer(partitionOf("app_1")));
      const ids: string[] = [];
      const sizes: string[] = [];
      for await (const message of await consumer.fetch({ max_messages: messages, expires: 10_000 })) {
        const batch = message.json<EventEnvelope[]>();
        ids.push(...batch.map((event) => event.id));
        sizes.push(`${message.subject} ${batch.length}`);
        expect(message.data.length).to.be.at.most(65_536 + 200); // commas, and the brackets
        message.ack();
      }
      expect(ids.toSorted()).to.deep.equal(events.map((event) => event.id).toSorted());
      expect(sizes.toSorted()).to.deep.equal([100, 100, 2, 3, 3, 52].map((size) => `${of("ten_1")} ${size}`));
    });

    it("puts the events of each app into the partition of that app", async () => {
      const { publish } = eventPublisher({
        partitioning: testPartitioning,
        publisher: publisher(nats),
        subjects: subjects("batch"),
      });
      const apps = ["app_1", "app_2", "app_3"];
      expect(
        await publish(
          "ten_parts",
          apps.map((appId, n) => anEvent(n, "delivery.sent", { appId })),
        ),
      ).to.equal(true);
      const filter = { subjects_filter: "batch.app-events.*.*.ten_parts" };
      const { subjects: filled = {} } = (await nats.jsm.streams.info(batches.name, filter)).state;
      const expected = apps.map((appId) => [`batch.app-events.16.${partitionOf(appId)}.ten_parts`, 1]);
      expect(filled).to.deep.equal(Object.fromEntries(expected));
    });

    it("puts the events of an app that is spread into one message, which four partitions read", async () => {
      const spreadOf = async () => 4 as const;
      const { publish } = eventPublisher({
        partitioning: testPartitioning,
        publisher: publisher(nats),
        subjects: subjects("batch"),
        spreadOf,
      });
      expect(await publish("ten_spread", [anEvent(7_777, "delivery.sent")])).to.equal(true);
      const filter = { subjects_filter: "batch.app-events.*.*.ten_spread" };
      const { subjects: filled = {} } = (await nats.jsm.streams.info(batches.name, filter)).state;
      const group = partitionOf("app_1") % 4;
      expect(filled).to.deep.equal({ [`batch.app-events.4.${group}.ten_spread`]: 1 });
      for (const partition of partitions.filter((one) => one % 4 === group)) {
        const reader = await nats.js.consumers.get(batches.name, webhookConsumer(partition));
        for (let read = await reader.next({ expires: 5_000 }); ; read = await reader.next({ expires: 5_000 })) {
          read?.ack();
          if (read === null || read.subject.endsWith(".ten_spread")) break;
        }
      }
      await until(async () => (await nats.jsm.streams.info(batches.name, filter)).state.subjects === undefined);
    });

    it("is refused for the tenant whose share is full, and not for the next", async () => {
      const { publish } = gatheredEvents(
        eventPublisher({ partitioning: testPartitioning, publisher: publisher(nats), subjects: subjects("batch") }),
      );
      for (let n = 0; n < eventBatchesPerTenant; n++) nats.nc.publish(of("ten_full"), "[]");
      const both = () =>
        Promise.all(["ten_full", "ten_2"].map((tenant, n) => publish(tenant, [anEvent(n, "message.completed")])));
      expect(await both()).to.deep.equal([false, true]);
      await nats.jsm.streams.purge(batches.name, { filter: of("ten_full") });
      expect(await both()).to.deep.equal([true, true]);
    });

    it("says false when there is no room", async () => {
      const { publish } = eventPublisher({
        partitioning: testPartitioning,
        publisher: publisher(nats),
        subjects: subjects("nowhere"),
      });
      expect(await publish("ten_1", [anEvent(1, "delivery.sent")])).to.equal(false);
    });
  });

  it("announces changes, and says that anything may have changed after the connection was lost", async () => {
    const heard: string[] = [];
    const part = changes({ nats, subjects: subjects("news") });
    part.on((collection, id, appId = "-") => heard.push(`${collection}/${id} ${appId}`));
    await part.start(new AbortController().signal);
    const { changed } = announcer({ nats, subjects: subjects("news") });
    changed("apps", "app_1");
    changed("plans", "a.b *");
    changed("webhooks", "whk_1", "app_1");
    nats.nc.publish("news.config.x.y", "not ours");
    await until(() => heard.length === 3);
    await server.kill();
    await server.start();
    await until(() => heard.length === 4);
    expect(heard).to.deep.equal(["apps/app_1 -", "plans/a.b * -", "webhooks/whk_1 app_1", "*/* -"]);
    await part.stop(new AbortController().signal);
  });
});

const plan = (backlogPerTenant: number) => planStream("ensure", { name: "free", backlogPerTenant }, timings.short);

const anEvent = (
  n: number,
  kind: "delivery.sent" | "message.completed",
  { size = 0, appId = "app_1" } = {},
): EventEnvelope =>
  makeEvent({
    kind,
    appId,
    subjectId: null,
    data: { text: "x".repeat(size) },
    at: new Date(0),
    from: [`${n}`],
  });
