import { expect } from "chai";
import { makeEvent } from "#core/domain/events/make.ts";
import { eventPublisher } from "#core/queue/events.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { subjects } from "#core/queue/subjects.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { testPartitioning } from "../../support/rows/partitioning.ts";
import { testTiming } from "../../support/suite/soak.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { keepPosting, type Stream } from "../../support/webhooks/chaos.ts";
import { useFaultSite } from "../../support/webhooks/faults.ts";
import { auditInbox } from "../../support/webhooks/inbox.ts";
import { addEndpoint, anEvent, deliveriesBecome, deliveryCounts, postEvents } from "../../support/webhooks/traffic.ts";

/** Until the shares of a killed dispatcher are free and JetStream hands out again what it had. */
const takenOverMs = testTiming.owners.goneMs + testTiming.ackWaitMs + 35_000;
const kills = 4;

describe("a dispatcher of webhooks that is killed", function () {
  this.timeout(400_000);
  const site = useFaultSite();
  let dispatcher: SystemProgram;
  let stream: Stream | undefined;
  let nats: Nats;
  const endpoints: Record<string, WebhookRow> = {};

  before(async () => {
    const { system, inbox, servers } = site;
    for (const name of ["before", "during", "after", "stream"]) {
      endpoints[name] = await addEndpoint(system, { url: `${inbox.url}/${name}`, names: [name] });
    }
    const delivered = { events: ["delivery.sent" as const], batch: true };
    endpoints["grouped"] = await addEndpoint(system, { url: `${inbox.url}/grouped`, names: [], ...delivered });
    nats = await connectNats({ url: servers.nats.url, name: "tests" });
    dispatcher = await system.start("dispatcher");
  });

  after(async () => {
    await stream?.stop();
    await nats?.close();
    await dispatcher?.stop();
  });

  const post = (name: string, n: number): Promise<void> => postEvents(site.system, site.api, [anEvent(name, n)]);
  const arrivals = (name: string) => site.inbox.arrivals(`/${name}`);
  const hasArrived = (name: string, count: number): Promise<void> =>
    until(() => arrivals(name).length >= count, takenOverMs);
  const idOf = (name: string): string => endpoints[name]?._id ?? "";
  /** A kill can repeat all whose outcome is not stored: what a kill is not about must be. */
  const isStored = (name: string, count: number): Promise<void> =>
    deliveriesBecome(site.system, [idOf(name)], { are: ({ success }) => success === count, withinMs: takenOverMs });

  const restart = async (): Promise<void> => {
    await dispatcher.kill();
    await dispatcher.restart();
  };

  const killBeforeRequest = async (): Promise<void> => {
    dispatcher.pause(); // JetStream hands it the event all the same
    await post("before", 1);
    await restart();
  };

  const killDuringRequest = async (): Promise<void> => {
    const released = Promise.withResolvers<number>();
    site.inbox.answer("/during", () => released.promise);
    await isStored("before", 2);
    await post("during", 1);
    await hasArrived("during", 2);
    await restart();
    released.resolve(200);
  };

  /** An event that is grouped, in a message of the stream of its own. */
  const postGrouped = (n: number): Promise<boolean> => {
    const { app, tenantId, prefix } = site.system;
    const { publish } = eventPublisher({
      partitioning: testPartitioning,
      publisher: publisher(nats),
      subjects: subjects(prefix),
    });
    return publish(tenantId, [groupedEvent(app._id, n)]);
  };
  /** Posts others, one after another, until the first ones come again: they are to come among the others. */
  const comeAgain = async (first: readonly string[]): Promise<number> => {
    let posted = first.length;
    const times = (id: string) => arrivals("grouped").filter(({ eventIds }) => eventIds.includes(id)).length;
    const haveCome = async (): Promise<boolean> => {
      await postGrouped(posted++);
      return first.every((id) => times(id) >= 2);
    };
    await until(haveCome, takenOverMs);
    return posted;
  };
  /** The events of a batch that came again under another id, or among other events. */
  const regrouped = (): string[] => {
    const ids = new Map<string, string>();
    return arrivals("grouped").flatMap(({ eventId, eventIds }) =>
      eventIds.filter((id) => {
        const first = ids.get(id) ?? eventId;
        ids.set(id, first);
        return first !== eventId;
      }),
    );
  };

  const killBeforeWrite = async (): Promise<void> => {
    const released = Promise.withResolvers<number>();
    site.inbox.answer("/after", () => released.promise);
    await isStored("during", 2);
    await post("after", 1);
    await hasArrived("after", 2);
    await site.servers.mongodb.kill();
    released.resolve(200);
    await until(() => hasAttempted(2));
    await dispatcher.kill();
    await site.servers.mongodb.start();
    const { success } = await deliveryCounts(site.system, [idOf("after")]);
    expect(success).to.equal(1); // the first event's
    await dispatcher.restart();
  };

  /** A batch is answered, and nothing of that can be stored. */
  const killAfterBatch = async (): Promise<void> => {
    const answered = Promise.withResolvers<void>();
    site.inbox.answer("/grouped", async () => {
      await site.servers.mongodb.kill();
      answered.resolve();
      return 200;
    });
    await isStored("after", 2);
    for (let n = 1; n < 6; n++) await postGrouped(n);
    await answered.promise;
    await dispatcher.kill();
    site.inbox.answer("/grouped", () => 200);
    await site.servers.mongodb.start();
    await dispatcher.restart();
  };

  const hasAttempted = async (times: number): Promise<boolean> => {
    const lines = await dispatcher.log();
    const isOurs = (line: Record<string, unknown>) =>
      line["event"] === "webhook.attempted" && line["endpoint"] === idOf("after");
    return lines.filter(isOurs).length >= times;
  };

  it("leaves nothing unsent, and each kill repeats an event once at most, with its id", async () => {
    for (const name of ["before", "during", "after"]) await post(name, 0);
    await postGrouped(0);
    for (const name of ["before", "during", "after", "grouped"]) await isStored(name, 1);
    stream = keepPosting(site.system, site.api, "stream", 5);
    await killBeforeRequest();
    await killDuringRequest();
    await killBeforeWrite();
    await killAfterBatch();
    const first = arrivals("grouped").at(1)?.eventIds ?? [];
    const posted = await comeAgain(first);
    const streamed = await stream.stop();

    await until(() => new Set(arrivals("grouped").flatMap(({ eventIds }) => eventIds)).size === posted, takenOverMs);
    expect(first).to.have.length.above(0);
    expect(regrouped()).to.deep.equal([]);

    const ids = Object.entries(endpoints).flatMap(([name, { _id }]) => (name === "grouped" ? [] : [_id]));
    const all = 6 + streamed;
    await deliveriesBecome(site.system, ids, { are: ({ success }) => success === all, withinMs: takenOverMs });
    expect(await deliveryCounts(site.system, ids)).to.deep.equal({ success: all });
    const once = { missed: [], repeated: 0, mostTimes: 1, ids: 2 };
    expect(auditInbox(arrivals("before"), 2)).to.deep.equal(once);
    expect(auditInbox(arrivals("during"), 2)).to.deep.equal({ ...once, repeated: 1, mostTimes: 2 });
    expect(auditInbox(arrivals("after"), 2)).to.deep.equal({ ...once, repeated: 1, mostTimes: 2 });
    const { missed, mostTimes, ids: streamIds } = auditInbox(arrivals("stream"), streamed);
    expect(missed).to.deep.equal([]);
    expect(streamIds).to.equal(streamed);
    expect(mostTimes).to.be.at.most(1 + kills);
  });
});

const groupedEvent = (appId: string, n: number) =>
  makeEvent({ kind: "delivery.sent", appId, subjectId: null, data: {}, at: new Date(), from: [appId, String(n)] });
