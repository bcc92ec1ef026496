import { expect } from "chai";
import { makeEvent } from "#core/domain/events/make.ts";
import { webhookDefaults } from "#core/storage/webhooks/webhooks.ts";
import { grouping } from "../../../../dispatcher/webhooks/accept/group.ts";
import { aWebhook } from "../../../support/rows/webhooks.ts";
import { until } from "../../../support/until.ts";
import {
  clock,
  endpointQueueTests,
  isIdle,
  keyOf,
  look,
  place,
  succeed,
} from "../../../support/webhooks/endpoint-queues.ts";

describe("endpoint queues", () => {
  const { endpointRows, deliveryRows, endpointNow, deliveries, deliveriesOf, anEndpoint, rowsFor, aDispatcher } =
    endpointQueueTests("endpoint_queues");

  it("store a fresh delivery once, with its outcome", async () => {
    const endpoint = await anEndpoint();
    const { queues, stored } = await aDispatcher();
    await place(queues, endpoint, rowsFor(endpoint, 50));
    expect(stored).to.deep.equal(Array.from({ length: 50 }, () => "success"));
    expect((await deliveriesOf(endpoint)).every(({ attempts }) => attempts.length === 1)).to.equal(true);
  });

  it("store a batch before it is sent, and leave what comes again to the batch that it was stored in", async () => {
    const endpoint = await anEndpoint({ batch: true });
    const before: string[] = [];
    const { queues, stored } = await aDispatcher({
      send: async (given, delivery) => {
        before.push((await deliveryRows().findOne({ _id: delivery._id }))?.status ?? "not stored");
        return succeed(given, delivery);
      },
    });
    const group = grouping({ queues, deliveries: deliveries(), clock: { now: () => new Date() } });
    const events = Array.from({ length: 160 }, (_, n) => anEvent(n));
    await group(endpoint, events.slice(0, 100));
    await group(endpoint, events.slice(0, 100)); // all of them again
    await group(endpoint, events.slice(60)); // among others
    await until(async () => (await deliveriesOf(endpoint)).filter(({ status }) => status === "success").length === 2);
    const kept = (await deliveriesOf(endpoint)).map(({ event_ids: ids = [] }) => ids.length);
    expect(kept).to.have.members([100, 60]);
    expect([stored, before]).to.deep.equal([
      ["pending", "pending"],
      ["pending", "pending"],
    ]);
  });

  it("store a delivery as waiting when its endpoint is slow, and its outcome later", async () => {
    const endpoint = await anEndpoint({ last_success_at: null });
    const answer = Promise.withResolvers<void>();
    const { queues, stored } = await aDispatcher({
      send: async (...given) => {
        await answer.promise;
        return succeed(...given);
      },
    });
    await place(queues, endpoint, rowsFor(endpoint, 30));
    expect(stored).to.deep.equal(Array.from({ length: 30 }, () => "pending"));
    answer.resolve();
    await until(async () => (await deliveriesOf(endpoint)).every(({ status }) => status === "success"));
    expect(stored).to.have.length(30);
  });

  it("try an endpoint that failed last with one request, and go on once it has answered", async () => {
    const endpoint = await anEndpoint({ failure_count: 3 });
    const answer = Promise.withResolvers<void>();
    const { queues, sent } = await aDispatcher({
      send: async (...given) => {
        await answer.promise;
        return succeed(...given);
      },
    });
    await place(queues, endpoint, rowsFor(endpoint, 10)); // all are stored as waiting, while they were in memory
    expect(sent).to.have.length(1);
    answer.resolve();
    await until(async () => (await deliveriesOf(endpoint)).every(({ status }) => status === "success"));
    expect(sent).to.have.length(10);
  });

  it("read one page for an endpoint that failed last, and no other while its one request is under way", async () => {
    const endpoint = await anEndpoint({ failure_count: 3 });
    await deliveries().keep(rowsFor(endpoint, 60));
    const stored = deliveries();
    const answer = Promise.withResolvers<void>();
    const limits: number[] = [];
    let isUnderWay = false;
    const { queues } = await aDispatcher({
      deliveries: {
        due: (id, what) => {
          if (isUnderWay) limits.push(what.limit);
          return stored.due(id, what);
        },
      },
      send: async (...given) => {
        isUnderWay = true;
        await answer.promise;
        return succeed(...given);
      },
    });
    await look(queues, endpoint);
    await until(() => isUnderWay);
    for (let n = 0; n < 10; n++) await place(queues, endpoint, rowsFor(endpoint, 1)); // each has the queue look anew
    expect(limits).to.deep.equal([]);
    answer.resolve();
    await until(async () => (await deliveriesOf(endpoint)).every(({ status }) => status === "success"));
  });

  it("send all that is due in the store, and let the endpoint go", async () => {
    const endpoint = await anEndpoint();
    await deliveries().keep(rowsFor(endpoint, 450));
    const { queues, sent } = await aDispatcher();
    await look(queues, endpoint);
    await until(() => sent.length >= 450);
    await isIdle(queues);
    expect(new Set(sent).size).to.equal(450);
    expect(sent).to.have.length(450);
    expect(await endpointNow(endpoint)).to.include({ failure_count: 0 });
  });

  it("read less at a time when bodies are large", async () => {
    const endpoint = await anEndpoint();
    const rows = rowsFor(endpoint, 120).map((row) => ({ ...row, payload: JSON.stringify("x".repeat(60_000)) }));
    for (let from = 0; from < rows.length; from += 40) await deliveries().keep(rows.slice(from, from + 40));
    const limits: number[] = [];
    const stored = deliveries();
    const { queues, sent } = await aDispatcher({
      deliveries: {
        due: (id, what) => {
          limits.push(what.limit);
          return stored.due(id, what);
        },
      },
    });
    await look(queues, endpoint);
    await until(() => sent.length >= 120);
    await isIdle(queues);
    expect(sent).to.have.length(120);
    expect(Math.max(...limits), "beside what is in memory").to.be.at.most(100); // of small ones 200
  });

  it("have fresh deliveries wait until an endpoint that answers has caught up, and leave none to the store", async () => {
    const endpoint = await anEndpoint();
    await deliveries().keep(rowsFor(endpoint, 300));
    const begun = Promise.withResolvers<void>();
    const began = Date.now();
    const slow = { now: () => new Date(began + (Date.now() - began) / 10) }; // on any machine it catches up in 2 s of it
    const { queues, sent, stored } = await aDispatcher({
      clock: slow,
      send: async (...given) => {
        if (sent.length > 50) await begun.promise;
        return succeed(...given);
      },
    });
    await look(queues, endpoint);
    await until(() => sent.length > 50); // it is known how quick it is, and it is behind
    const shared = Array.from({ length: 12 }, () => place(queues, endpoint, rowsFor(endpoint, 100)));
    begun.resolve();
    await Promise.all(shared);
    expect(stored).to.deep.equal(Array.from({ length: 1_200 }, () => "success"));
    expect(sent).to.have.length(1_500);
  });

  it("ask once when the next retry is due, however often they look for what is due now", async () => {
    const endpoint = await anEndpoint({ last_success_at: null });
    const inAnHour = new Date(Date.now() + 3_600_000);
    const stored = deliveries();
    const asked: string[] = [];
    const { queues } = await aDispatcher({
      deliveries: {
        due: (id, what) => {
          asked.push("due");
          return stored.due(id, what);
        },
        nextDueAt: (id, after) => {
          asked.push("next");
          return stored.nextDueAt(id, after);
        },
      },
      send: async (...given) => {
        await new Promise((resolve) => setTimeout(resolve, 400)); // so slow that what failed last is stored as waiting
        const { result, ...rest } = await succeed(...given);
        const made = { ...result.made, response_status: 503, error_class: "server_error" } as const;
        return { ...rest, result: { ...result, status: "failed", due_at: inAnHour, delivered_at: null, made } };
      },
    });
    for (let i = 1; i <= 4; i++) {
      await place(queues, endpoint, rowsFor(endpoint, 5));
      const attempted = async () => (await deliveriesOf(endpoint)).filter(({ attempt }) => attempt === 1).length;
      await until(async () => (await attempted()) === i * 5, 15_000, 10);
    }
    await isIdle(queues);
    expect(asked.filter((what) => what === "due")).to.have.length.above(8);
    expect(asked.filter((what) => what === "next")).to.have.length.below(3); // on a busy machine the queue ends between two
  });

  it("send one delivery of a subject at a time, in order", async () => {
    const endpoint = await anEndpoint();
    const order: string[] = [];
    let [underWay, most] = [0, 0];
    const { queues } = await aDispatcher({
      send: async (given, delivery) => {
        most = Math.max(most, ++underWay);
        order.push(delivery._id);
        await new Promise(setImmediate);
        underWay--;
        return succeed(given, delivery);
      },
    });
    const rows = rowsFor(endpoint, 20, "usr_1");
    await place(queues, endpoint, rows);
    expect(order).to.deep.equal(rows.map(({ _id }) => _id));
    expect(most).to.equal(1);
  });

  it("keep what comes while an endpoint is paused, and send it afterwards", async () => {
    const endpoint = await anEndpoint({ paused: true });
    const { queues, sent } = await aDispatcher();
    await place(queues, endpoint, rowsFor(endpoint, 5));
    await look(queues, endpoint);
    await isIdle(queues);
    expect((await deliveriesOf(endpoint)).map(({ status }) => status)).to.deep.equal(Array(5).fill("pending"));
    expect(sent).to.deep.equal([]);
    await endpointRows().updateOne({ _id: endpoint._id }, { $set: { paused: false } });
    await look(queues, endpoint);
    await until(() => sent.length === 5);
  });

  it("begin no more requests a second than the endpoint admits", async () => {
    const endpoint = await anEndpoint({ rate_per_second: 20 });
    const times: number[] = [];
    const { queues } = await aDispatcher({
      send: async (...given) => {
        times.push(performance.now());
        return succeed(...given);
      },
    });
    await place(queues, endpoint, rowsFor(endpoint, 20));
    await until(() => times.length === 20);
    const tookMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
    expect(tookMs).to.be.at.least(750); // 19 gaps of 50 ms, less a burst of 100 ms
  });

  it("keep what a disabled endpoint misses as dead, for it to be recovered", async () => {
    const endpoint = await anEndpoint({ ...webhookDefaults, status: "disabled" });
    const { queues, sent } = await aDispatcher();
    await place(queues, endpoint, rowsFor(endpoint, 2));
    const [row] = await deliveriesOf(endpoint);
    expect(row).to.include({ status: "dead", error: "endpoint disabled", attempt: 0, due_at: null });
    expect(sent).to.deep.equal([]);
  });

  it("end what is stored for a disabled endpoint while its queue is about to end", async () => {
    const endpoint = await anEndpoint({ ...webhookDefaults, status: "disabled" });
    const late = rowsFor(endpoint, 1);
    let left = 1;
    const { queues } = await aDispatcher({
      deliveries: {
        endPage: async (id, error) => {
          const ended = await deliveries().endPage(id, error);
          const isLast = clock.now().getTime() - (queues.get(id)?.openedMs ?? Infinity) >= 5_000; // it is idle by then
          if (!isLast || left-- !== 1) return ended;
          await deliveries().keep(late); // as a caller does that read the endpoint before it was disabled
          queues.get(id)?.nudge();
          return ended;
        },
      },
    });
    await look(queues, endpoint);
    await isIdle(queues);
    expect(await deliveriesOf(endpoint)).to.have.lengthOf(1);
    expect((await deliveriesOf(endpoint))[0]).to.include({ status: "dead", due_at: null });
  });

  it("send a test that is replayed, and leave the endpoint's health as it is", async () => {
    const endpoint = await anEndpoint({ status: "failing", failure_count: 3, failing_since: new Date(0) });
    const [row] = rowsFor(endpoint, 1);
    if (row === undefined) throw new Error("no delivery");
    const { queues, sent } = await aDispatcher();
    await deliveries().keep([{ ...row, event_type: "webhook.test" }]);
    await look(queues, endpoint);
    await isIdle(queues);
    expect(sent).to.deep.equal([row._id]);
    expect(await endpointNow(endpoint)).to.include({ status: "failing", failure_count: 3 });
  });

  it("remove the deliveries of an endpoint that is gone", async () => {
    const endpoint = aWebhook({ _id: "whk_gone" });
    await deliveries().keep(rowsFor(endpoint, 700));
    const { queues } = await aDispatcher();
    queues.expect(keyOf(endpoint));
    await until(async () => (await deliveriesOf(endpoint)).length === 0);
  });
});

const anEvent = (n: number) =>
  makeEvent({ kind: "delivery.sent", appId: "app_1", subjectId: null, data: {}, at: new Date(), from: [String(n)] });
