import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { jobStream } from "#core/queue/jetstream/topology.ts";
import { subjects } from "#core/queue/subjects.ts";
import { usualWaitingMegabytes } from "#core/schema/plans/resource.ts";
import type { StatusDocument } from "#core/schema/status/status.ts";
import type { WarehouseExportRow } from "#core/storage/warehouse/exports.ts";
import { removal } from "#core/storage/work/removals.ts";
import { manifests } from "../../../integration/operator/support/manifests.ts";
import { groupOf } from "../../../support/rows/partitioning.ts";
import { aWarehouseExport, s3Destination } from "../../../support/rows/warehouse.ts";
import { testTiming } from "../../../support/suite/soak.ts";
import { until } from "../../../support/until.ts";
import { anEvent, postEvents } from "../../../support/webhooks/traffic.ts";
import { nowhere, type Planted, withinMs } from "./planted.ts";

/** What befalls the stores, and what they hold. */
export const storeCases = (at: () => Planted): void => {
  it("MongoDB is slow", async () => {
    const { stores, devices, sendTo, fires, shows } = at();
    const device = await devices(1);
    const slowly = async (): Promise<void> => {
      stores.mongodb.pause();
      const asked = Array.from({ length: 5 }, () => sendTo(device));
      await sleep(1_500); // longer than a request may take
      stores.mongodb.resume();
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
    await rows.insertMany(damaged);
    await fires(["HeraldWorkSetAside", "HeraldJobsFail"]);
    for (const alert of ["HeraldWorkSetAside", "HeraldJobsFail"]) await shows(alert, "damaged-a");
    await rows.deleteMany({ _id: { $in: damaged.map(({ _id }) => _id) } });
  });

  it("somebody else publishes below Herald's prefix in NATS", async () => {
    const { sending, stores, fires, shows } = at();
    const { prefix, tenantId, app } = sending.system;
    const nats = await connectNats({ url: stores.nats.url, name: "somebody" });
    const subject = subjects(prefix).events(groupOf(app._id), tenantId);
    await fires(["HeraldHintsFail"], () => nats.js.publish(subject, "who is there?"));
    await shows("HeraldHintsFail", "hint.unreadable", subject);
    await nats.close();
  });

  it("no store of a tenant takes files", async () => {
    const { sending, fires, shows } = at();
    const { db, tenantId, app } = sending.system;
    const to = { ...s3Destination(`http://${nowhere}`), endpoint: `http://${nowhere}` };
    const all = Array.from({ length: 6 }, () => aWarehouseExport(to, { tenant_id: tenantId, app_id: app._id }));
    await db.collection<WarehouseExportRow>("warehouse_exports").insertMany(all);
    await fires(["HeraldWarehouseStoresFail"]);
    await shows("HeraldWarehouseStoresFail", "warehouse_runs", "NETWORK");
    await db.collection<WarehouseExportRow>("warehouse_exports").deleteMany({ app_id: app._id });
  });

  it("JetStream is away, and /readyz names it", async () => {
    const { herald, stores, sending, programs, fires, shows } = at();
    await using broken = new AsyncDisposableStack();
    await stores.nats.stop();
    broken.defer(() => stores.nats.start());
    await fires(["HeraldStoreUnreachable"]);
    await shows("HeraldStoreUnreachable", '"program":"dispatcher"', '"dependency":"jetstream"');
    const ready = await fetch(`${programs.dispatcher.healthUrl}/readyz`);
    expect({ status: ready.status, names: (await ready.text()).includes("jetstream") }).to.deep.equal({
      status: 503,
      names: true,
    });
    await herald.apply(manifests(herald).plan({}, `${herald.id}-late`));
    let posted = 0;
    const kept = (): Promise<void> => postEvents(sending.system, programs.apiserver, [anEvent("kept", ++posted)]);
    await fires(["HeraldResourcesWaiting", "HeraldOutboxKept", "HeraldReconcileErrors"], kept);
    await shows("HeraldResourcesWaiting", `${herald.id}-late`, "Unknown");
    await shows("HeraldOutboxKept", '"program":"apiserver"');
    await shows("HeraldReconcileErrors", `${herald.id}-late`);
    const room = (bytes: number) =>
      sending.system.db.collection("plans").updateMany({}, { $set: { waiting_event_bytes: bytes } });
    await room(1);
    await fires(["HeraldEventsRefused"], () => kept().catch(() => undefined)); // once the apiserver knows the plan
    await shows("HeraldEventsRefused", '"pod":"apiserver"');
    await room(usualWaitingMegabytes * 1_000_000);
  });

  it("no dispatcher runs, and the status says so by the same Prometheus", async () => {
    const { programs, devices, sendTo, fires, finds, shows } = at();
    const delivery = async (): Promise<string | undefined> => {
      const reply = await fetch(`${programs.apiserver.url}/status.json`);
      const { components } = (await reply.json()) as StatusDocument; // the apiserver's own
      return components.find(({ name }) => name === "delivery")?.status;
    };
    const device = await devices(1);
    await finds('rate(herald_queue_messages_total{consumer="plan"}[20s]) > 0', () => sendTo(device));
    await programs.dispatcher.kill();
    await Promise.all(Array.from({ length: 400 }, () => sendTo(device)));
    await fires(["HeraldQueueBehind"]);
    await shows("HeraldQueueBehind", '"consumer":"plan"');
    await fires(["HeraldProgramDown", "HeraldQueueStuck"], () => sendTo(device));
    await shows("HeraldProgramDown");
    await shows("HeraldQueueStuck", '"consumer":');
    await until(async () => (await delivery()) === "major_outage", withinMs);
  });

  it("a stream is nearly full", async () => {
    const { sending, stores, fires, shows } = at();
    const { prefix } = sending.system;
    const nats = await connectNats({ url: stores.nats.url, name: "somebody" });
    const { stream } = jobStream(prefix, testTiming);
    const large = Buffer.alloc(Math.floor((stream.max_bytes ?? 0) / 64)); // 60 of them are more than four fifths
    for (let n = 0; n < 60; n++) await nats.js.publish(`${prefix}.jobs.large.${n}`, large);
    await fires(["HeraldStreamNearlyFull"]);
    await shows("HeraldStreamNearlyFull", stream.name);
    await nats.jsm.streams.purge(stream.name);
    await nats.close();
  });

  it("MongoDB is away", async () => {
    const { stores, sendTo, fires, shows } = at();
    await stores.mongodb.stop();
    const budgets = [
      "HeraldAcceptBudgetBurnsFast",
      "HeraldAcceptBudgetBurnsSlowly",
      "HeraldApiBudgetBurnsFast",
      "HeraldApiBudgetBurnsSlowly",
    ];
    await fires(budgets, () => sendTo(["sub"]).catch(() => undefined));
    for (const alert of budgets) await shows(alert, '"status":"503"', '"route":"/v1/notifications"');
  });
};
