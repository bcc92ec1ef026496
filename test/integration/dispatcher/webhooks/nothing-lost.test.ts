import { expect } from "chai";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { EndpointQueues } from "../../../../dispatcher/webhooks/queues/endpoint-queues.ts";
import type { SendWebhook } from "../../../../dispatcher/webhooks/send/send-webhook.ts";
import { until } from "../../../support/until.ts";
import { endpointQueueTests, isIdle, look, place, succeed } from "../../../support/webhooks/endpoint-queues.ts";

describe("an endpoint queue loses nothing", () => {
  const { work, endpointRows, endpointNow, deliveries, deliveriesOf, anEndpoint, rowsFor, aDispatcher } =
    endpointQueueTests("nothing_lost");

  /** Shares a delivery each quarter of a second, so that the queue is never quiet, until something is so. */
  const busyUntil = async (queues: EndpointQueues, endpoint: WebhookRow, isSo: () => boolean): Promise<void> => {
    const busy = setInterval(() => void place(queues, endpoint, rowsFor(endpoint, 1)), 250);
    await until(isSo).finally(() => clearInterval(busy));
  };
  /** The first request of these fails, to be tried again so much later. */
  const failFirst =
    (delaysMs: ReadonlyMap<string, number>): SendWebhook =>
    async (endpoint, row) => {
      const sent = await succeed(endpoint, row);
      const delayMs = row.attempt === 0 ? delaysMs.get(row._id) : undefined;
      if (delayMs === undefined) return sent;
      const dueAt = new Date(Date.now() + delayMs);
      return { ...sent, result: { ...sent.result, status: "failed", due_at: dueAt, delivered_at: null } };
    };

  it("of several retries while others are sent all the time", async () => {
    const endpoint = await anEndpoint();
    const rows = rowsFor(endpoint, 3);
    const delaysMs = new Map(rows.map(({ _id }, i) => [_id, 1_000 * (i + 1)]));
    const { queues, sent } = await aDispatcher({ send: failFirst(delaysMs) });
    await place(queues, endpoint, rows);
    const times = (id: string): number => sent.filter((one) => one === id).length;
    await busyUntil(queues, endpoint, () => rows.every(({ _id }) => times(_id) === 2));
  });

  it("of what waited when it was opened, though it is due only later", async () => {
    const endpoint = await anEndpoint();
    const [later] = rowsFor(endpoint, 1) as [WebhookDeliveryRow];
    await deliveries().keep([{ ...later, status: "failed", attempt: 1, due_at: new Date(Date.now() + 2_000) }]);
    const { queues, sent } = await aDispatcher();
    await busyUntil(queues, endpoint, () => sent.includes(later._id));
  });

  it("when a look into the store failed", async () => {
    const endpoint = await anEndpoint();
    const stored = deliveries();
    const [waiting] = rowsFor(endpoint, 1) as [WebhookDeliveryRow];
    let failures = 0;
    const due: typeof stored.due = async (id, what) => {
      const isFirst = sent.length > 0 && what.status === "pending" && failures++ === 0;
      if (isFirst) throw new Error("the store is away");
      return stored.due(id, what);
    };
    const { queues, sent, notify } = await aDispatcher({ deliveries: { due } });
    await place(queues, endpoint, rowsFor(endpoint, 1));
    await stored.keep([waiting]);
    notify(endpoint);
    await busyUntil(queues, endpoint, () => sent.includes(waiting._id));
    expect(failures).to.be.above(0);
  });

  it("of a delivery that a process stored before it was killed, without notifying anybody", async () => {
    const endpoint = await anEndpoint();
    const { queues, sent } = await aDispatcher();
    await place(queues, endpoint, rowsFor(endpoint, 1)); // now it has looked
    await until(() => sent.length === 1);
    const [waiting] = rowsFor(endpoint, 1) as [WebhookDeliveryRow];
    await deliveries().keep([waiting]);
    await queues.place(endpoint, { count: 1, characters: 0 }, () => []); // its event comes again
    await busyUntil(queues, endpoint, () => sent.includes(waiting._id));
  });

  it("and ends when it is released while it looks into the store", async () => {
    const endpoint = await anEndpoint();
    const stored = deliveries();
    const looking = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    let isSlow = false;
    const due: typeof stored.due = async (id, what) => {
      if (isSlow) looking.resolve();
      if (isSlow) await goOn.promise;
      return stored.due(id, what);
    };
    const { queues, sent, notify, drainAll } = await aDispatcher({ deliveries: { due } });
    await place(queues, endpoint, rowsFor(endpoint, 1)); // its queue is open
    await stored.keep(rowsFor(endpoint, 3));
    isSlow = true;
    notify(endpoint);
    await looking.promise;
    const draining = drainAll();
    goOn.resolve();
    await draining;
    expect(sent).to.have.length(1);
    const left = (await deliveriesOf(endpoint)).filter(({ due_at: dueAt }) => dueAt !== null);
    expect(left.map(({ status }) => status)).to.deep.equal(["pending", "pending", "pending"]);
  });

  it("and leaves a recovery that was begun to the next", async () => {
    const at = new Date();
    const window = { since: new Date(at.getTime() - 60_000), until: at, requested_at: at };
    const progress = { after: null, replayed: 0, completed_at: null };
    const recovery = { id: "rec_1", kind: "recover", status: null, event_type: null, ...window, ...progress } as const;
    const endpoint = await anEndpoint({ recovery, due_at: at });
    const paging = Promise.withResolvers<void>();
    const { queues, drainAll } = await aDispatcher({
      deliveries: {
        recover: async (row) => {
          paging.resolve();
          if (row.recovery === null) throw new Error("there is none");
          return row.recovery; // there is more
        },
      },
    });
    await look(queues, endpoint);
    await paging.promise;
    await drainAll();
    const row = await endpointNow(endpoint);
    expect(row?.recovery?.completed_at).to.equal(null);
    expect(await work().recovering(), "its next owner finds it").to.include(endpoint._id);
  });

  it("and settles at once what waits in it already and is shared again, though nothing is sent", async () => {
    const endpoint = await anEndpoint({ max_in_flight: 1 });
    const blocked = Promise.withResolvers<void>();
    const rows = rowsFor(endpoint, 3);
    const { queues, sent } = await aDispatcher({
      send: async (...request) => {
        await blocked.promise;
        return succeed(...request);
      },
    });
    await deliveries().keep(rows);
    await look(queues, endpoint);
    await until(() => queues.underWay === 1);
    await place(queues, endpoint, rows); // their events come again
    await endpointRows().updateOne({ _id: endpoint._id }, { $set: { paused: true } });
    blocked.resolve();
    await isIdle(queues);
    expect(sent.length).to.be.above(0);
  });
});
