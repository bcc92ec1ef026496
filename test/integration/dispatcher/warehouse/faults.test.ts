import { expect } from "chai";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { type Destination, DestinationError } from "../../../../dispatcher/warehouse/destinations/destination.ts";
import { sealedFor } from "../../../support/rows/warehouse.ts";
import { aMessage } from "../../../support/rows/work.ts";
import { recoverFrom, s3Faults } from "../../../support/warehouse/failing-stores.ts";
import { useRuns } from "../../../support/warehouse/runs.ts";

/** A store that takes one part, and is away from then on. */
const cutBehindOnePart = () => {
  let parts = 0;
  return (one: Destination): Destination => ({
    ...one,
    write: (...given) =>
      parts++ === 0 ? one.write(...given) : Promise.reject(new DestinationError("NETWORK", "the store is away")),
  });
};

describe("runs of a warehouse export whose store fails", () => {
  const here = useRuns("warehouse_faults", [messageCollection]);
  const { db, site, of, start, before, later, seed } = here;

  it("are tried again after ever longer pauses, then have failed; after three the export is failing, and well again after one", async () => {
    await seed(1);
    const row = await site.add(here.destination, { ...of, failure_count: 2, failing_since: start });
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
    const row = await site.add(here.destination, {
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
    expect(await here.bucket.manifests(), "it was only decided").to.deep.equal([]);
    await site.run(id); // the store takes everything again: what was decided stands
    const run = await site.runNow(id);
    expect(run).to.deep.include({
      status: "partial",
      due_at: null,
      error: { code: "QUOTA", message: refused.message },
    });
    const [manifest] = await here.bucket.manifests();
    expect(manifest?.datasets.map(({ name, rows }) => [name, rows])).to.deep.equal([["deliveries", 3]]);
    const after = await site.exportNow(row._id);
    expect(after?.watermarks).to.deep.equal({ deliveries: later, messages: before });
    expect(after).to.deep.include({ status: "failing", failure_count: 3 });
    expect(after?.last_run).to.include({ status: "partial", row_count: 3 });
    const next = await site.begin({ ...row, datasets: ["messages"] }, before, later);
    await site.run(next);
    const [, second] = await here.bucket.manifests();
    expect(second).to.deep.include({ sequence: 2 });
    expect(second?.datasets.map(({ name, rows }) => [name, rows])).to.deep.equal([["messages", 1]]);
    expect(await site.exportNow(row._id)).to.deep.include({ status: "active", failure_count: 0 });
  });

  it("whose files are written are never given up: their manifest may be in the store", async () => {
    await seed(3);
    const row = await site.add(here.destination, { ...of, failure_count: 2, failing_since: start });
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
    const [first] = await here.bucket.manifests();
    expect(first).to.deep.include({ sequence: 1, run_id: id });
    expect(await site.runNow(id)).to.deep.include({ status: "pending", attempt: 5 });
    expect(await site.exportNow(row._id)).to.deep.include({ status: "failing", chain: row.chain });
    site.shift(241 * 60_000);
    await site.run(id);
    expect(await site.runNow(id)).to.include({ status: "completed" });
    expect(await here.bucket.manifests()).to.deep.equal([first]);
    expect((await site.exportNow(row._id))?.chain).to.include({ sequence: 1 });
  });

  it("tell what a store refuses by a code, and never a secret", async () => {
    const cases = [
      [{ ...here.destination, secret_access_key: "wrong" }, "AUTH"],
      [{ ...here.destination, bucket: "no-such-bucket" }, "NOT_FOUND"],
      [{ ...here.destination, endpoint: "http://127.0.0.1:1" }, "NETWORK"],
      [{ ...here.destination, endpoint: "http://10.1.2.3:9000" }, "PERMISSION"],
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

  recoverFrom(
    {
      url: () => here.destination.endpoint,
      at: (endpoint) => ({ ...here.destination, endpoint }),
      faults: s3Faults,
    },
    here,
  );

  it("keep the address and the secrets of their begin where their export moves on, and take newer secrets of the same address", async () => {
    await seed(1_500);
    const row = await site.add(here.destination, of);
    const id = await site.begin(row, before, later);
    const cut = cutBehindOnePart();
    await site.run(id, { partRows: 1_000, through: cut });
    const wrong = sealedFor(row._id, { ...here.destination, secret_access_key: "wrong" });
    await site.exports().updateOne({ _id: row._id }, { $set: { secrets: wrong } });
    site.shift(61_000);
    await site.run(id, { partRows: 1_000 });
    expect((await site.runNow(id))?.error?.code, "of the same address the present ones").to.equal("AUTH");
    await site.exports().updateOne({ _id: row._id }, { $set: { secrets: row.secrets } });
    site.shift(400_000);
    await site.run(id, { partRows: 1_000, through: cut });
    const moved = { ...row.destination, prefix: `${here.destination.prefix}-other` };
    await site.exports().updateOne({ _id: row._id }, { $set: { destination: moved, secrets: wrong } });
    site.shift(1_400_000);
    await site.run(id, { partRows: 1_000 });
    const run = await site.runNow(id);
    expect(run).to.deep.include({ status: "completed", error: null });
    expect(run?.settings, "no secret is left").not.to.have.property("secrets");
    expect(await here.bucket.rows(await here.bucket.manifests())).to.have.length(1_500);
  });

  it("whose secrets were sealed by a key that is gone fail with AUTH where their export moved on, and take its present ones otherwise", async () => {
    await seed(1_500);
    for (const hasMoved of [true, false]) {
      const row = await site.add({ ...here.destination, prefix: `${here.destination.prefix}-${hasMoved}` }, of);
      const id = await site.begin(row, before, later);
      await site.run(id, { partRows: 1_000, through: cutBehindOnePart() });
      const sealed = Object.entries((await site.runNow(id))?.settings?.secrets ?? {});
      expect(sealed, "the run has secrets of its own").to.not.be.empty;
      const ofGoneKey = Object.fromEntries(sealed.map(([name, one]) => [name, { ...one, kid: "gone" }]));
      await site.runs().updateOne({ _id: id }, { $set: { "settings.secrets": ofGoneKey } });
      const moved = { ...row.destination, prefix: `${here.destination.prefix}-elsewhere` };
      if (hasMoved) await site.exports().updateOne({ _id: row._id }, { $set: { destination: moved } });
      site.shift(61_000);
      await site.run(id, { partRows: 1_000 });
      const run = await site.runNow(id);
      if (hasMoved) expect(run?.error).to.deep.include({ code: "AUTH" });
      else expect(run).to.deep.include({ status: "completed", error: null });
      expect(JSON.stringify(run?.error), "no secret is told").not.to.contain(here.destination.secret_access_key);
      site.shift(0);
    }
  });

  it("have the columns of their begin in all of their parts, also where one is left out meanwhile", async () => {
    await seed(1_500);
    const row = await site.add(here.destination, of);
    const id = await site.begin(row, before, later);
    const cut = cutBehindOnePart();
    await site.run(id, { partRows: 1_000, through: cut });
    await site.exports().updateOne({ _id: row._id }, { $set: { excluded_columns: ["deliveries.channel"] } });
    site.shift(61_000);
    await site.run(id, { partRows: 1_000 });
    const manifests = await here.bucket.manifests();
    const names = manifests[0]?.datasets[0]?.columns.map(({ name }) => name);
    expect(names).to.include("channel");
    const rows = await here.bucket.rows(manifests);
    expect(rows).to.have.length(1_500);
    for (const one of rows) expect(Object.keys(one)).to.deep.equal(names);
  });

  it("begin once for a window when the clocks of two dispatchers differ by ten minutes", async () => {
    const row = await site.add(here.destination, of);
    const ends: (Date | undefined)[] = [];
    for (const minutes of [10, -10, 10, 0]) {
      site.shift(minutes * 60_000);
      await site.look(row._id);
      const run = await site.runs().findOne({ export_id: row._id, open: true });
      if (run === null) continue;
      const [window] = run.datasets;
      expect(window?.from, "each begins where the one before it ended").to.deep.equal(ends.at(-1) ?? window?.from);
      ends.push(window?.to);
      await site.run(run._id);
    }
    expect(ends.length).to.be.within(1, 2); // where the quarter of an hour ends in between
    expect(new Set(ends.map((end) => end?.getTime())).size).to.equal(ends.length);
  });
});
