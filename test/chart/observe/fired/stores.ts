import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { announcer } from "#core/queue/announce.ts";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { subjects } from "#core/queue/subjects.ts";
import { usualWaitingMegabytes } from "#core/schema/plans/resource.ts";
import { type PlanRow, planCollection } from "#core/storage/plans/plans.ts";
import { removal } from "#core/storage/work/removals.ts";
import { manifests } from "../../../integration/operator/support/manifests.ts";
import { groupOf } from "../../../support/rows/partitioning.ts";
import { anEvent, postEvents } from "../../../support/webhooks/traffic.ts";
import type { Planted } from "./planted.ts";

/** What befalls the stores, and what they hold. */
export const storeCases = (at: () => Planted): void => {
  it("MongoDB is slow", async () => {
    const { stores, devices, sendTo, fires, shows } = at();
    const device = await devices(1);
    const slowly = async (): Promise<void> => {
      stores.mongodb.pause();
      const asked = Array.from({ length: 5 }, () => sendTo(device));
      await sleep(1_500).finally(() => stores.mongodb.resume()); // longer than a request may take
      await Promise.all(asked);
    };
    const budgets = ["HeraldApiLatencyBudgetBurnsFast", "HeraldApiLatencyBudgetBurnsSlowly"];
    await fires([...budgets, "HeraldAcceptSlow"], slowly);
    for (const alert of budgets) await shows(alert, '"route":"/v1/notifications"');
    await shows("HeraldAcceptSlow", '"pod":"apiserver"');
  });

  it("documents are damaged", async () => {
    const { sending, fires, shows } = at();
    const { db, tenantId, app } = sending.system;
    const rows = db.collection<{ _id: string }>("removals");
    const damaged = ["a", "b", "c", "d"].map((name) => ({
      ...removal({ _id: `damaged-${name}`, tenant_id: tenantId, app_id: app._id }, new Date()),
      kind: "user",
      keys: [],
      outbox: [null],
    }));
    await using planted = new AsyncDisposableStack();
    planted.defer(async () => void (await rows.deleteMany({ _id: { $in: damaged.map(({ _id }) => _id) } })));
    await rows.insertMany(damaged);
    await fires(["HeraldWorkSetAside", "HeraldJobsFail"]);
    for (const alert of ["HeraldWorkSetAside", "HeraldJobsFail"]) await shows(alert, "damaged-a");
  });

  it("somebody else publishes below Herald's prefix in NATS", async () => {
    const { sending, stores, fires, shows } = at();
    const { prefix, tenantId, app } = sending.system;
    await using used = new AsyncDisposableStack();
    const nats = await connectNats({ url: stores.nats.url, name: "somebody" });
    used.defer(() => nats.close());
    const subject = subjects(prefix).events(groupOf(app._id), tenantId);
    await fires(["HeraldHintsFail"], () => nats.js.publish(subject, "who is there?"));
    await shows("HeraldHintsFail", "hint.unreadable", subject);
  });

  it("JetStream does not answer while resources change", async () => {
    const { herald, stores, fires, shows } = at();
    const plans = Array.from({ length: 8 }, (_, n) => manifests(herald).plan({}, `${herald.id}-changed-${n}`));
    await using broken = new AsyncDisposableStack();
    broken.defer(async () => void (await Promise.all(plans.map(herald.remove))));
    stores.nats.pause();
    broken.defer(() => stores.nats.resume());
    await Promise.all(plans.map(herald.apply));
    await fires(["HeraldWorkQueueSlow"]);
    await shows("HeraldWorkQueueSlow", '"controller":"plan"');
  });

  it("JetStream is away, and /readyz names it", async () => {
    const { herald, stores, sending, programs, devices, sendTo, fires, shows } = at();
    await using broken = new AsyncDisposableStack();
    broken.defer(() => giveRoom(at(), usualWaitingMegabytes * 1_000_000));
    await giveRoom(at(), 1);
    await stores.nats.stop();
    broken.defer(() => stores.nats.start());
    await fires(["HeraldStoreUnreachable"]);
    await shows("HeraldStoreUnreachable", '"program":"dispatcher"', '"dependency":"jetstream"');
    const ready = await fetch(`${programs.dispatcher.healthUrl}/readyz`);
    expect({ status: ready.status, names: (await ready.text()).includes("jetstream") }).to.deep.equal({
      status: 503,
      names: true,
    });
    const late = manifests(herald).plan({}, `${herald.id}-late`);
    broken.defer(() => herald.remove(late));
    await herald.apply(late);
    const device = await devices(1);
    await fires(["HeraldResourcesWaiting", "HeraldOutboxKept", "HeraldReconcileErrors"], () => sendTo(device));
    await shows("HeraldResourcesWaiting", `${herald.id}-late`, "Unknown");
    await shows("HeraldOutboxKept", '"program":"apiserver"');
    await shows("HeraldReconcileErrors", `${herald.id}-late`);
    let posted = 0;
    const event = (): Promise<void> => postEvents(sending.system, programs.apiserver, [anEvent("kept", ++posted)]);
    await fires(["HeraldEventsRefused"], () => event().catch(() => undefined)); // what waits fills the room
    await shows("HeraldEventsRefused", '"pod":"apiserver"');
  });
};

/** Sets how many bytes of events an organisation may have wait in MongoDB, and tells all programs. */
const giveRoom = async ({ sending: { system }, stores }: Planted, bytes: number): Promise<void> => {
  const plans = system.db.collection<PlanRow>(planCollection.name);
  await plans.updateMany({}, { $set: { waiting_event_bytes: bytes } });
  const nats = await connectNats({ url: stores.nats.url, name: "somebody" });
  announcer({ nats, subjects: subjects(system.prefix) }).changed(planCollection.name, "*");
  await nats.close();
};
