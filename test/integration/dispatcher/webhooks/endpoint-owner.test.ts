import { expect } from "chai";
import { healthAnew } from "#core/storage/webhooks/webhooks.ts";
import { partitionOf } from "../../../support/rows/partitioning.ts";
import { until } from "../../../support/until.ts";
import { endpointQueueTests, isIdle, look, place, succeed } from "../../../support/webhooks/endpoint-queues.ts";

describe("the owner of an endpoint", () => {
  const { work, endpointRows, endpointNow, deliveries, deliveriesOf, anEndpoint, rowsFor, aDispatcher } =
    endpointQueueTests("owners");

  it("leaves an endpoint that it does not own to its owner: what comes is stored, and the owner is notified", async () => {
    const endpoint = await anEndpoint();
    const { queues, sent, notified } = await aDispatcher({ holder: { fence: null } });
    await place(queues, endpoint, rowsFor(endpoint, 3));
    expect(notified).to.deep.equal([endpoint._id]);
    expect(sent).to.deep.equal([]);
    expect((await deliveriesOf(endpoint)).map(({ status }) => status)).to.deep.equal(Array(3).fill("pending"));
  });

  it("serves an endpoint under the fence of its partition, and shuts older owners out", async () => {
    const endpoint = await anEndpoint();
    await deliveries().keep(rowsFor(endpoint, 1));
    const [before, after] = [await aDispatcher(), await aDispatcher({ holder: { fence: 2 } })];
    await look(before.queues, endpoint);
    await until(() => before.sent.length === 1);
    const old = (await endpointNow(endpoint)) ?? expect.fail();
    await place(after.queues, endpoint, rowsFor(endpoint, 1));
    expect(await endpointNow(endpoint)).to.include({ fence: 2 });
    expect(await work().own(endpoint._id, 1)).to.equal(null);
    expect(await work().noteHealth([{ row: old, health: { ...old, failure_count: 9 } }])).to.equal(false);
    expect(await work().disable(old, "gone", new Date())).to.equal(false);
    expect(await endpointNow(endpoint)).to.include({ status: "active", failure_count: 0 });
  });

  it("begins nothing once it may have lost its partition, and writes no health", async () => {
    const endpoint = await anEndpoint();
    const holder: { fence: number | null } = { fence: 1 };
    const { queues, sent } = await aDispatcher({
      holder,
      send: async (...given) => {
        holder.fence = null; // it stood still for long
        const { result, isGone } = await succeed(...given);
        return {
          isGone,
          result: { ...result, status: "failed", due_at: new Date(Date.now() + 60_000), delivered_at: null },
        };
      },
    });
    const before = await endpointNow(endpoint);
    await place(queues, endpoint, rowsFor(endpoint, 1));
    await place(queues, endpoint, rowsFor(endpoint, 4));
    expect(sent).to.have.length(1);
    expect((await deliveriesOf(endpoint)).filter(({ status }) => status === "pending")).to.have.length(4);
    expect(await endpointNow(endpoint)).to.deep.equal({ ...before, fence: 1 });
  });

  it("leaves to another what is in memory when its partition is taken, and notifies it", async () => {
    const endpoint = await anEndpoint({ max_in_flight: 1 });
    const holder: { fence: number | null } = { fence: 1 };
    const answer = Promise.withResolvers<void>();
    const { queues, sent, notified } = await aDispatcher({
      holder,
      send: async (...given) => {
        await answer.promise;
        return succeed(...given);
      },
    });
    const placed = place(queues, endpoint, rowsFor(endpoint, 5));
    await until(() => sent.length === 1);
    holder.fence = null;
    queues.lose(partitionOf(endpoint.app_id));
    answer.resolve();
    await placed;
    await until(() => queues.size === 0);
    expect(notified).to.include(endpoint._id);
    const statuses = Object.groupBy(await deliveriesOf(endpoint), ({ status }) => status);
    expect([sent.length, statuses.success?.length, statuses.pending?.length]).to.deep.equal([1, 1, 4]);
  });

  it("finishes what is under way when it gives an endpoint up, and leaves the rest due", async () => {
    const endpoint = await anEndpoint();
    await deliveries().keep(rowsFor(endpoint, 50));
    const { queues, sent, drainAll } = await aDispatcher({
      send: async (...given) => {
        await new Promise((resolve) => setTimeout(resolve, 300)); // a slow endpoint
        return succeed(...given);
      },
    });
    await look(queues, endpoint);
    await until(() => sent.length >= 10);
    await drainAll();
    const statuses = Object.groupBy(await deliveriesOf(endpoint), ({ status }) => status);
    expect(statuses.success).to.have.length(sent.length);
    expect(statuses.pending).to.have.length(50 - sent.length);
    expect(await deliveries().nextDueAt(endpoint._id)).to.be.an.instanceOf(Date);
  });

  it("does not enable an endpoint that somebody disabled meanwhile, and ends what waits for it", async () => {
    const endpoint = await anEndpoint();
    await deliveries().keep(rowsFor(endpoint, 30));
    const { queues } = await aDispatcher({
      send: async (...given) => {
        await endpointRows().updateOne({ _id: endpoint._id }, { $set: { status: "disabled" } });
        queues.refresh(endpoint._id);
        return succeed(...given);
      },
    });
    await look(queues, endpoint);
    await isIdle(queues);
    expect(await endpointNow(endpoint)).to.include({ status: "disabled" });
    expect((await deliveriesOf(endpoint)).filter(({ due_at }) => due_at !== null)).to.deep.equal([]);
  });

  it("takes note of a change that comes while its queue is opened", async () => {
    const endpoint = await anEndpoint({ rate_per_second: 1, fence: 1 });
    await deliveries().keep(rowsFor(endpoint, 30));
    const [reading, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const find = async (id: string) => {
      const row = await work().find(id);
      reading.resolve();
      await changed.promise;
      return row;
    };
    const { queues, sent } = await aDispatcher({ endpoints: { find } });
    const looking = look(queues, endpoint);
    await reading.promise;
    await endpointRows().updateOne({ _id: endpoint._id }, { $set: { status: "disabled" } });
    queues.refresh(endpoint._id);
    changed.resolve();
    await looking;
    const isDue = async () => (await deliveriesOf(endpoint)).some(({ due_at: dueAt }) => dueAt !== null);
    await until(async () => !(await isDue()));
    expect(sent).to.have.length.below(4); // of one a second: else it would find out when it notes the health, after 5 s
  });

  for (const [what, url, status] of [
    ["disables an endpoint that is gone", undefined, "disabled"],
    [
      "does not disable an endpoint that has another address by the time its former one says that it is gone",
      "https://corrected.example.com/",
      "failing", // for a delivery that is dead
    ],
  ] as const)
    it(what, async () => {
      const endpoint = await anEndpoint();
      await deliveries().keep(rowsFor(endpoint, 1));
      const { queues, sent } = await aDispatcher({
        send: async (...given) => {
          if (url !== undefined) await endpointRows().updateOne({ _id: endpoint._id }, { $set: { url } });
          const { result } = await succeed(...given);
          return { result: { ...result, status: "dead", delivered_at: null }, isGone: true };
        },
      });
      await look(queues, endpoint);
      await isIdle(queues);
      expect(sent).to.have.length(1);
      expect(await endpointNow(endpoint)).to.include({ status });
    });

  it("counts failures anew when the owner says so, although nothing but the count shows it", async () => {
    const endpoint = await anEndpoint({ failure_count: 3, streak_since: new Date() });
    await deliveries().keep(rowsFor(endpoint, 1));
    const inAnHour = new Date(Date.now() + 3_600_000);
    const { queues, sent } = await aDispatcher({
      send: async (...given) => {
        await endpointRows().updateOne({ _id: endpoint._id }, { $set: healthAnew });
        const { result, ...rest } = await succeed(...given);
        return { ...rest, result: { ...result, status: "failed", due_at: inAnHour, delivered_at: null } };
      },
    });
    await look(queues, endpoint);
    await isIdle(queues);
    expect(sent).to.have.length(1);
    expect(await endpointNow(endpoint)).to.include({ status: "active", failure_count: 0, streak_since: null });
  });

  it("does not write a count that began anew meanwhile", async () => {
    const endpoint = await anEndpoint({ failure_count: 3, streak_since: new Date() });
    const row = (await work().own(endpoint._id, 1)) ?? expect.fail();
    await endpointRows().updateOne({ _id: endpoint._id }, { $set: healthAnew });
    expect(await work().noteHealth([{ row, health: { ...row, failure_count: 4 } }])).to.equal(false);
    expect(await endpointNow(endpoint)).to.include({ failure_count: 0 });
  });

  it("stores the outcome of a delivery that another process has stored as waiting meanwhile", async () => {
    const endpoint = await anEndpoint();
    const rows = rowsFor(endpoint, 2);
    const { queues } = await aDispatcher({
      send: async (...given) => {
        await deliveries().keep(rows);
        return succeed(...given);
      },
    });
    await place(queues, endpoint, rows);
    expect((await deliveriesOf(endpoint)).map(({ status }) => status)).to.deep.equal(["success", "success"]);
  });
});
