import type { Msg } from "@nats-io/nats-core";
import { expect } from "chai";
import { makeEvent } from "#core/domain/events/make.ts";
import { timings } from "#core/domain/timing.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { subjects } from "#core/queue/subjects.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { createLog } from "#core/runtime/process/log.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Accept, Wanted } from "../../../../dispatcher/webhooks/accept/accept.ts";
import { type Batch, handingOver, takingOver } from "../../../../dispatcher/webhooks/match/hand-over.ts";
import { aWebhook } from "../../../support/rows/webhooks.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { tracedBy } from "../../../support/tracing/recorder.ts";
import { until } from "../../../support/until.ts";

const names = subjects(`ho${process.pid}`);
const log = createLog({ program: "dispatcher", level: "fatal" });

describe("events that are handed over to the owner of an endpoint", function () {
  this.timeout(30_000);
  let nats: Nats;
  let running: Part[] = [];
  let owners = 0;

  before(async () => {
    nats = await connectNats({ url: (await testServers()).natsUrl, name: "tests" });
  });
  afterEach(async () => {
    for (const part of running) await part.stop(AbortSignal.timeout(10_000));
    running = [];
  });
  after(() => nats.close());

  const [mine, others] = [aWebhook({ _id: "whk_mine" }), aWebhook({ _id: "whk_others" })];
  const event = (n: number): EventEnvelope =>
    makeEvent({
      kind: "delivery.sent",
      appId: "app_1",
      subjectId: null,
      data: { n },
      at: new Date(),
      from: [String(n)],
    });
  const batchOf = (...wanted: Wanted[]): Batch => ({ appId: "app_1", wanted, isRepeated: false });
  const idsOf = (all: readonly Wanted[]): string[] => all.map(({ endpoint }) => endpoint._id);

  const aGiver = () => {
    const doubted: string[] = [];
    const requests: string[] = [];
    const nc = new Proxy(nats.nc, {
      get: (target, member) =>
        member === "request"
          ? (subject: string, body: string, options: { timeout: number }) => {
              requests.push(body);
              return target.request(subject, body, options);
            }
          : Reflect.get(target, member, target),
    });
    const timing = timings.usual;
    const shares = { doubt: (holder: string) => void doubted.push(holder) };
    const handOver = handingOver({ nats: { nc }, subjects: names, shares, handedOver: () => {}, timing, log });
    return { doubted, requests, ...handOver };
  };
  /** A process that owns `whk_mine` alone. */
  const anOwner = async (accept: Accept, endpoints: WebhookRow[] = [mine, others]): Promise<string> => {
    const holder = `host.example/1/${++owners}`;
    const shares = { fenceOf: (id: string) => (id === mine._id ? 1 : null) };
    const part = takingOver({
      nats,
      subjects: names,
      holder,
      directory: { webhooksOf: async () => endpoints },
      shares,
      accept,
      log,
    });
    await part.start(AbortSignal.timeout(5_000));
    running.push(part);
    return holder;
  };

  it("come as they were, each once in a request, and are answered when they are stored", async () => {
    const taken: Wanted[] = [];
    const stored = Promise.withResolvers<void>();
    const owner = await anOwner(async (all) => {
      taken.push(...all);
      await stored.promise;
    });
    const { give, requests } = aGiver();
    const [one, two] = [event(1), event(2)];
    let isAnswered = false;
    const giving = give(
      owner,
      batchOf({ endpoint: mine, events: [one, two] }, { endpoint: others, events: [two] }),
    ).then((refused) => {
      isAnswered = true;
      return refused;
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(isAnswered).to.equal(false);
    stored.resolve();
    expect(idsOf(await giving), "what is not its own").to.deep.equal([others._id]);
    expect(taken).to.deep.equal([{ endpoint: mine, events: [one, two] }]);
    expect(requests.map((body) => body.split(two.id).length - 1)).to.deep.equal([1]);
  });

  it("come with the trace of their message, when there is one", async () => {
    const seen: unknown[] = [];
    const owner = await anOwner(async (_all, _isRepeated, traceparent) => void seen.push(traceparent));
    const { give } = aGiver();
    const one = batchOf({ endpoint: mine, events: [event(1)] });
    await give(owner, { ...one, traceparent: tracedBy(7) });
    await give(owner, { ...one, traceparent: tracedBy(7).replace(/01$/, "00") });
    expect(seen).to.deep.equal([tracedBy(7), undefined]);
  });

  it("share requests while some are under way", async () => {
    const owner = await anOwner(async () => undefined);
    const { give, requests } = aGiver();
    const all = Array.from({ length: 200 }, (_, n) => give(owner, batchOf({ endpoint: mine, events: [event(n)] })));
    expect((await Promise.all(all)).flat()).to.deep.equal([]);
    expect(requests.length).to.be.below(100);
  });

  it("are not taken when the owner does not know the endpoint, or could not store them", async () => {
    const wanted = { endpoint: mine, events: [event(1)] };
    const { give, doubted } = aGiver();
    const failing = await anOwner(() => Promise.reject(new Error("the store is away")));
    for (const owner of [failing, await anOwner(async () => undefined, [])])
      expect(idsOf(await give(owner, batchOf(wanted)))).to.deep.equal([mine._id]);
    expect(doubted).to.deep.equal([]);
  });

  it("are not taken by a process that is gone, or does not answer until it is given up, which is then doubted", async () => {
    const { give, giveUp, doubted, requests } = aGiver();
    const wanted = { endpoint: mine, events: [event(1)] };
    expect(idsOf(await give("gone", batchOf(wanted)))).to.deep.equal([mine._id]);
    nats.nc.subscribe(names.webhookOwner("silent"), { callback: () => undefined });
    await nats.nc.flush();
    const giving = give("silent", batchOf(wanted));
    await until(() => requests.length === 2);
    giveUp("silent");
    expect(idsOf(await giving)).to.deep.equal([mine._id]);
    expect(doubted).to.deep.equal(["gone", "silent"]);
  });

  it("that cannot be read are not taken", async () => {
    const owner = await anOwner(() => expect.fail("it cannot be read"));
    const answers: unknown[] = [];
    for (const body of ["{", "{}", '[{"app_id":1}]', "[{}]"]) {
      const reply: Msg = await nats.nc.request(names.webhookOwner(owner), body, { timeout: 5_000 });
      answers.push(reply.json());
    }
    expect(answers).to.deep.equal([[], [], [], []]);
  });
});
