import { expect } from "chai";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { subjects } from "#core/queue/subjects.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { partitionOf } from "../../support/rows/partitioning.ts";
import { testServers } from "../../support/servers/servers.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { type Hooked, startHooked } from "../../support/webhooks/chaos.ts";
import { auditInbox } from "../../support/webhooks/inbox.ts";
import { addEndpoint, anEvent, postEvents } from "../../support/webhooks/traffic.ts";

const minute = 60_000;
const hour = 60 * minute;
/** Between the seven requests. Source: docs/reference/webhooks.md#retries. */
const gapsMs = [minute, 5 * minute, 20 * minute, 80 * minute, 6 * hour, 24 * hour];
const chance = 1.1; // what chance adds at most
const longestMs = 24 * hour;

describe("a delivery that fails for more than a day", () => {
  let hooked: Hooked;
  let endpoint: WebhookRow;
  let nats: Nats;

  before(async () => {
    nats = await connectNats({ url: (await testServers()).natsUrl, name: "tests" });
    hooked = await startHooked(await testServers());
    endpoint = await addEndpoint(hooked.system, { url: `${hooked.inbox.url}/down`, names: ["down"] });
  });

  after(async () => {
    await nats?.close();
    await hooked?.close();
  });

  const deliveries = () => hooked.system.db.collection<WebhookDeliveryRow>("webhook_deliveries");
  const webhooks = () => hooked.system.db.collection<WebhookRow>("webhooks");
  const afterRequest = async (attempt: number): Promise<WebhookDeliveryRow> => {
    await until(async () => (await deliveries().countDocuments({ endpoint_id: endpoint._id, attempt })) === 1);
    return (await deliveries().findOne({ endpoint_id: endpoint._id })) as WebhookDeliveryRow; // it was just there
  };

  /** As if that instant had come: what is stored of the time of the next request lies in the past. */
  const moveToNow = async ({ _id }: WebhookDeliveryRow): Promise<void> => {
    await deliveries().updateOne({ _id }, { $set: { due_at: new Date() } });
    nats.nc.publish(subjects(hooked.system.prefix).webhookNotices(partitionOf(endpoint.app_id)), endpoint._id);
  };

  it("is requested seven times, at the documented times and after a restart too, then is dead", async () => {
    const { system, inbox } = hooked;
    inbox.answer("/down", () => 500);
    const [api, dispatcher]: SystemProgram[] = await Promise.all([
      system.start("apiserver"),
      system.start("dispatcher"),
    ]);
    await postEvents(system, api as SystemProgram, [anEvent("down", 0)]);
    for (const [i, gapMs] of gapsMs.entries()) {
      const row = await afterRequest(i + 1);
      expect(row.status).to.equal("failed");
      const { at, duration_ms: tookMs } = row.attempts.at(-1) ?? expect.fail("it was not requested");
      const waitMs = (row.due_at?.getTime() ?? 0) - at.getTime() - tookMs;
      expect(waitMs).to.be.within(gapMs, Math.min(gapMs * chance, longestMs));
      if (i === 2) await dispatcher?.stop().then(() => dispatcher.restart());
      await moveToNow(row);
    }
    const dead = await afterRequest(gapsMs.length + 1);
    expect(dead).to.include({ status: "dead", due_at: null, delivered_at: null });
    expect(dead.attempts.map(({ response_status }) => response_status)).to.deep.equal(Array(7).fill(500));
    expect(inbox.arrivals("/down").map(({ attempt }) => attempt)).to.deep.equal([1, 2, 3, 4, 5, 6, 7]);
    expect(auditInbox(inbox.arrivals("/down"), 1).ids).to.equal(1);
    await until(async () => (await webhooks().findOne({ _id: endpoint._id }))?.status === "failing");
  });
});
