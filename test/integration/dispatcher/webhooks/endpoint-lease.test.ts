import { expect } from "chai";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import { healthAnew } from "#core/storage/webhooks/webhooks.ts";
import { until } from "../../../support/until.ts";
import { endpointQueueTests, share, succeed } from "../../../support/webhooks/endpoint-queues.ts";

const clock = { now: () => new Date() };

describe("the queues of an endpoint", function () {
  this.timeout(60_000);
  const { work, endpointNow, deliveries, deliveriesOf, isGivenBack, anEndpoint, rowsFor, aDispatcher } =
    endpointQueueTests("leases");

  it("notice a delivery that is stored after they looked for the last time", async () => {
    const endpoint = await anEndpoint();
    const stored = deliveries();
    const [first, second] = rowsFor(endpoint, 2) as [WebhookDeliveryRow, WebhookDeliveryRow];
    await stored.keep([first]);
    let isFirst = true;
    const nextDueAt = async (endpointId: string, after?: Date) => {
      const found = await stored.nextDueAt(endpointId, after);
      if (isFirst && after === undefined) {
        isFirst = false;
        await stored.keep([second]);
        await work().makeDue([endpoint._id], new Date(Date.now() + 10_000));
      }
      return found;
    };
    const { queues, sent } = await aDispatcher({ deliveries: { nextDueAt } });
    await queues.answer(endpoint._id);
    await until(() => sent.length === 2, 15_000); // they look for the last time when nothing was sent for 2 s
    await isGivenBack(endpoint);
    expect(await endpointNow(endpoint)).to.include({ due_at: null });
  });

  it("leave an endpoint to the process that has its lease: what comes is stored, and its holder is notified", async () => {
    const endpoint = await anEndpoint();
    const leased = await work().take(endpoint._id, { holder: "other", now: clock.now(), leaseMs: 30_000 });
    const { queues, sent, hinted, notified } = await aDispatcher();
    await share(queues, endpoint, rowsFor(endpoint, 3));
    expect(hinted).to.deep.equal([endpoint._id]);
    await queues.answer(endpoint._id);
    expect(notified).to.deep.equal([endpoint._id]);
    expect(sent).to.deep.equal([]);
    expect((await deliveriesOf(endpoint)).map(({ status }) => status)).to.deep.equal(Array(3).fill("pending"));
    if (leased === null) throw new Error("the endpoint was free");
    expect(await work().settle(leased, null, {})).to.equal(false); // it was made due
  });

  it("take an endpoint over whose holder died, and shut the dead one out", async () => {
    const endpoint = await anEndpoint();
    await deliveries().keep(rowsFor(endpoint, 1));
    const ago = new Date(Date.now() - 31_000);
    const dead = await work().take(endpoint._id, { holder: "dead", now: ago, leaseMs: 30_000 });
    const { queues, sent } = await aDispatcher();
    await queues.answer(endpoint._id);
    await until(() => sent.length === 1);
    if (dead === null) throw new Error("the endpoint was free");
    expect(await work().settle(dead, null, {})).to.equal(false);
    expect(await work().renew(dead, {}, { now: clock.now(), leaseMs: 30_000 })).to.equal(null);
  });

  it("begin nothing once their lease has run out, until it is renewed", async () => {
    const endpoint = await anEndpoint();
    let shiftMs = 0;
    const shifted = { now: () => new Date(Date.now() + shiftMs) };
    const { queues, sent } = await aDispatcher({ clock: shifted });
    await share(queues, endpoint, rowsFor(endpoint, 1));
    const other = { holder: "other", now: new Date(Date.now() + 31_000), leaseMs: 60_000 };
    expect(await work().take(endpoint._id, other)).to.not.equal(null);
    shiftMs = 31_000;
    await share(queues, endpoint, rowsFor(endpoint, 4));
    expect(sent).to.have.length(1);
    expect((await deliveriesOf(endpoint)).filter(({ status }) => status === "pending")).to.have.length(4);
  });

  it("leave to another what is stored before they know that they have lost their lease", async () => {
    const endpoint = await anEndpoint();
    let shiftMs = 0;
    const shifted = { now: () => new Date(Date.now() + shiftMs) };
    const { queues, hinted } = await aDispatcher({ clock: shifted });
    await share(queues, endpoint, rowsFor(endpoint, 1));
    const now = new Date(Date.now() + 31_000);
    const other = await work().take(endpoint._id, { holder: "other", now, leaseMs: 30_000 });
    if (other === null) throw new Error("the lease had run out");
    expect(await work().settle(other, null, {})).to.equal(true); // it found nothing to do, and looks no more by itself
    shiftMs = 31_000;
    await share(queues, endpoint, rowsFor(endpoint, 3));
    await until(() => hinted.includes(endpoint._id));
    expect((await endpointNow(endpoint))?.due_at).to.be.instanceOf(Date);
    await until(async () => (await queues.answer(endpoint._id)).kind === "done");
    await until(async () => (await deliveriesOf(endpoint)).every(({ status }) => status === "success"));
  });

  it("finish what is under way when they stop, and leave the rest due", async () => {
    const endpoint = await anEndpoint();
    await deliveries().keep(rowsFor(endpoint, 50));
    const { queues, sent } = await aDispatcher({
      send: async (...given) => {
        await new Promise((resolve) => setTimeout(resolve, 300)); // a slow endpoint
        return succeed(...given);
      },
    });
    await queues.answer(endpoint._id);
    await until(() => sent.length >= 10);
    await queues.stop(AbortSignal.timeout(10_000));
    const after = await endpointNow(endpoint);
    expect(after?.lease).to.equal(null);
    expect(after?.due_at).to.be.instanceOf(Date);
    const statuses = Object.groupBy(await deliveriesOf(endpoint), ({ status }) => status);
    expect(statuses.success).to.have.length(sent.length);
    expect(statuses.pending).to.have.length(50 - sent.length);
  });

  it("do not enable an endpoint that somebody disabled meanwhile, and end what waits for it", async () => {
    const endpoint = await anEndpoint();
    await deliveries().keep(rowsFor(endpoint, 30));
    const { queues } = await aDispatcher({
      send: async (...given) => {
        await work().rows.updateOne({ _id: endpoint._id }, { $set: { status: "disabled" } });
        queues.refresh(endpoint._id);
        return succeed(...given);
      },
    });
    await queues.answer(endpoint._id);
    await isGivenBack(endpoint);
    expect(await endpointNow(endpoint)).to.include({ status: "disabled", due_at: null });
    expect((await deliveriesOf(endpoint)).filter(({ due_at }) => due_at !== null)).to.deep.equal([]);
  });

  for (const [what, url, status] of [
    ["disable an endpoint that is gone", undefined, "disabled"],
    [
      "do not disable an endpoint that has another address by the time its former one says that it is gone",
      "https://corrected.example.com/",
      "failing", // for a delivery that is dead
    ],
  ] as const)
    it(what, async () => {
      const endpoint = await anEndpoint();
      await deliveries().keep(rowsFor(endpoint, 1));
      const { queues, sent } = await aDispatcher({
        send: async (...given) => {
          if (url !== undefined) await work().rows.updateOne({ _id: endpoint._id }, { $set: { url } });
          const { result } = await succeed(...given);
          return { result: { ...result, status: "dead", delivered_at: null }, isGone: true };
        },
      });
      await queues.answer(endpoint._id);
      await isGivenBack(endpoint);
      expect(sent).to.have.length(1);
      expect(await endpointNow(endpoint)).to.include({ status });
    });

  it("count failures anew when the owner says so, although nothing but the count shows it", async () => {
    const endpoint = await anEndpoint({ failure_count: 3, streak_since: new Date() });
    await deliveries().keep(rowsFor(endpoint, 1));
    const inAnHour = new Date(Date.now() + 3_600_000);
    const { queues, sent } = await aDispatcher({
      send: async (...given) => {
        await work().rows.updateOne({ _id: endpoint._id }, { $set: healthAnew, $inc: { due_changes: 1 } });
        const { result, ...rest } = await succeed(...given);
        return { ...rest, result: { ...result, status: "failed", due_at: inAnHour, delivered_at: null } };
      },
    });
    await queues.answer(endpoint._id);
    await isGivenBack(endpoint);
    expect(sent).to.have.length(1);
    expect(await endpointNow(endpoint)).to.include({ status: "active", failure_count: 0, streak_since: null });
  });

  it("do not give an endpoint back with a count that began anew meanwhile", async () => {
    const endpoint = await anEndpoint({ failure_count: 3, streak_since: new Date() });
    const leased = await work().take(endpoint._id, { holder: "h", now: clock.now(), leaseMs: 30_000 });
    if (leased === null) throw new Error("the endpoint was free");
    await work().rows.updateOne({ _id: endpoint._id }, { $set: healthAnew });
    expect(await work().settle(leased, null, { failure_count: 4 })).to.equal(false);
    expect(await endpointNow(endpoint)).to.include({ failure_count: 0 });
  });

  it("store the outcome of a delivery that another process has stored as waiting meanwhile", async () => {
    const endpoint = await anEndpoint();
    const rows = rowsFor(endpoint, 2);
    const { queues } = await aDispatcher({
      send: async (...given) => {
        await deliveries().keep(rows);
        return succeed(...given);
      },
    });
    await share(queues, endpoint, rows);
    expect((await deliveriesOf(endpoint)).map(({ status }) => status)).to.deep.equal(["success", "success"]);
  });
});
