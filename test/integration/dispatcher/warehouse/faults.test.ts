import { expect } from "chai";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { warehouseExportCollection } from "#core/storage/warehouse/exports.ts";
import { warehouseRunCollection } from "#core/storage/warehouse/runs.ts";
import { type Destination, DestinationError } from "../../../../dispatcher/warehouse/destinations/destination.ts";
import { s3Destination } from "../../../support/rows/warehouse.ts";
import { aMessage } from "../../../support/rows/work.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { bucketOf, deliveriesFrom, warehouseSite } from "../../../support/warehouse/site.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };
const hourMs = 3_600_000;

describe("runs of a warehouse export whose store fails", function () {
  this.timeout(60_000);
  const db = testDatabase("warehouse_faults", [
    deliveryCollection,
    messageCollection,
    warehouseExportCollection,
    warehouseRunCollection,
  ]);
  const site = warehouseSite(db);
  const start = new Date(Date.now() - hourMs);
  let destination: ReturnType<typeof s3Destination>;
  let bucket: ReturnType<typeof bucketOf>;

  beforeEach(async () => {
    site.shift(0);
    destination = s3Destination((await testServers()).s3Url);
    bucket = bucketOf(destination);
    for (const name of [warehouseExportCollection.name, warehouseRunCollection.name, deliveryCollection.name])
      await db().collection(name).deleteMany({});
  });
  afterEach(() => bucket.close());

  const seed = async (count: number): Promise<void> => {
    const made = deliveriesFrom(of, start, count);
    await db().collection<DeliveryRow>(deliveryCollection.name).insertMany(made);
  };
  const before = new Date(start.getTime() - 1);
  const later = new Date(start.getTime() + hourMs / 2);

  it("are tried again after ever longer pauses, then have failed; after three the export is failing, and well again after one", async () => {
    await seed(1);
    const row = await site.add(destination, { ...of, failure_count: 2, failing_since: start });
    const id = await site.begin(row, before, later);
    const away = (one: Destination): Destination => ({
      ...one,
      write: () => Promise.reject(new DestinationError("NETWORK", "the store did not answer (ECONNREFUSED)")),
    });
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      const at = site.clock.now().getTime();
      await site.run(id, { through: away });
      const { next_retry_at: next, status } = (await site.runNow(id)) ?? {};
      if (next === null || next === undefined) break;
      expect(status).to.equal("pending");
      pauses.push(Math.round((next.getTime() - at) / 60_000));
      site.shift(next.getTime() - Date.now() + 1);
    }
    expect(pauses).to.deep.equal([1, 5, 15, 60, 240]);
    const failed = await site.runNow(id);
    expect(failed).to.deep.include({ status: "failed", attempt: 5 });
    expect(failed?.error).to.deep.equal({ code: "NETWORK", message: "the store did not answer (ECONNREFUSED)" });
    expect(await site.exportNow(row._id)).to.deep.include({
      status: "failing",
      failure_count: 3,
      watermarks: row.watermarks,
    });
    await site.run(await site.begin(row, before, later));
    expect(await site.exportNow(row._id)).to.deep.include({ status: "active", failure_count: 0, failing_since: null });
  });

  it("that wrote some of their datasets hand those over after the last attempt, and the next run goes on with the rest", async () => {
    await seed(3);
    const row = await site.add(destination, {
      ...of,
      datasets: ["deliveries", "messages"],
      watermarks: { deliveries: before, messages: before },
      failure_count: 2,
      failing_since: start,
    });
    const message = aMessage({ ...of, created_at: start, updated_at: start });
    await db().collection<MessageRow>(messageCollection.name).insertOne(message);
    const id = await site.begin(row, before, later);
    await site.runs().updateOne({ _id: id }, { $set: { attempt: 5 } }); // the last of its attempts
    const refused = new DestinationError("QUOTA", "the store answered QuotaExceeded (507)");
    const full = (one: Destination): Destination => ({
      ...one,
      write: (file, ...rest) => (file.key.includes("/messages/") ? Promise.reject(refused) : one.write(file, ...rest)),
    });
    await site.run(id, { through: full });
    expect((await site.runNow(id))?.datasets.map(({ is_left: isLeft }) => isLeft)).to.deep.equal([undefined, true]);
    expect(await bucket.manifests(), "it was only decided").to.deep.equal([]);
    await site.run(id); // the store takes everything again: what was decided stands
    const run = await site.runNow(id);
    expect(run).to.deep.include({
      status: "partial",
      due_at: null,
      error: { code: "QUOTA", message: refused.message },
    });
    const [manifest] = await bucket.manifests();
    expect(manifest?.datasets.map(({ name, rows }) => [name, rows])).to.deep.equal([["deliveries", 3]]);
    const after = await site.exportNow(row._id);
    expect(after?.watermarks).to.deep.equal({ deliveries: later, messages: before });
    expect(after).to.deep.include({ status: "failing", failure_count: 3 });
    expect(after?.last_run).to.include({ status: "partial", row_count: 3 });
    const next = await site.begin({ ...row, datasets: ["messages"] }, before, later);
    await site.run(next);
    const [, second] = await bucket.manifests();
    expect(second).to.deep.include({ sequence: 2 });
    expect(second?.datasets.map(({ name, rows }) => [name, rows])).to.deep.equal([["messages", 1]]);
    expect(await site.exportNow(row._id)).to.deep.include({ status: "active", failure_count: 0 });
  });

  it("whose files are written are never given up: their manifest may be in the store", async () => {
    await seed(3);
    const row = await site.add(destination, { ...of, failure_count: 2, failing_since: start });
    const id = await site.begin(row, before, later);
    await site.runs().updateOne({ _id: id }, { $set: { attempt: 5 } });
    const lost = new DestinationError("NETWORK", "the store did not answer (ECONNRESET)");
    const through = (one: Destination): Destination => ({
      ...one,
      write: async (file, ...rest) => {
        const isNew = await one.write(file, ...rest);
        if (file.key.includes("/_manifests/")) throw lost;
        return isNew;
      },
    });
    await site.run(id, { through });
    const [first] = await bucket.manifests();
    expect(first).to.deep.include({ sequence: 1, run_id: id });
    expect(await site.runNow(id)).to.deep.include({ status: "pending", attempt: 5 });
    expect(await site.exportNow(row._id)).to.deep.include({ status: "failing", chain: row.chain });
    site.shift(241 * 60_000);
    await site.run(id);
    expect(await site.runNow(id)).to.include({ status: "completed" });
    expect(await bucket.manifests()).to.deep.equal([first]);
    expect((await site.exportNow(row._id))?.chain).to.include({ sequence: 1 });
  });

  it("tell what a store refuses by a code, and never a secret", async () => {
    const cases = [
      [{ ...destination, secret_access_key: "wrong" }, "AUTH"],
      [{ ...destination, bucket: "no-such-bucket" }, "NOT_FOUND"],
      [{ ...destination, endpoint: "http://127.0.0.1:1" }, "NETWORK"],
      [{ ...destination, endpoint: "http://10.1.2.3:9000" }, "PERMISSION"],
    ] as const;
    for (const [given, code] of cases) {
      const row = await site.add(given, of);
      const id = await site.begin(row, before, later);
      await site.run(id);
      const { error } = (await site.runNow(id)) ?? {};
      expect(error?.code, JSON.stringify(error)).to.equal(code);
      expect(JSON.stringify(error)).not.to.include(given.access_key_id).and.not.to.include(given.secret_access_key);
    }
  });
});
