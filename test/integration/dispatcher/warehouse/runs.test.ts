import { expect } from "chai";
import { warehouseRuns } from "#core/storage/warehouse/runs.ts";
import { type Destination, DestinationError } from "../../../../dispatcher/warehouse/destinations/destination.ts";
import { testDestination } from "../../../../dispatcher/warehouse/tests.ts";
import { inSuite } from "../../../support/suite/soak.ts";
import { useRuns } from "../../../support/warehouse/runs.ts";
import { sha256Of, warehouseSite } from "../../../support/warehouse/site.ts";

const hourMs = 3_600_000;

/** What a killed process leaves: nothing that comes after is done. */
class Killed extends Error {}

describe("the runs of a warehouse export", () => {
  const here = useRuns("warehouse");
  const { db, site, of, before, later, seed } = here;

  const idsOf = (rows: readonly Record<string, unknown>[]) => rows.map(({ id }) => id);

  it("write what changed in their window, and a manifest that says what that is", async () => {
    const made = await seed(1_100);
    await seed(3, later);
    const row = await site.add(here.destination, { ...of, excluded_columns: ["deliveries.campaign_id"] });
    const id = await site.begin(row, before, later);
    await site.run(id, { partRows: 1_000 });
    const [manifest, ...others] = await here.bucket.manifests();
    expect(others).to.deep.equal([]);
    if (manifest === undefined) throw new Error("no manifest");
    expect(manifest).to.deep.include({ sequence: 1, previous: null, run_id: id, chain: "changes" });
    const [dataset] = manifest.datasets;
    expect(dataset?.files.map(({ rows }) => rows)).to.deep.equal([1_000, 100]);
    expect(dataset?.files[0]?.key).to.match(/\/v1\/deliveries\/dt=\d{4}-\d\d-\d\d\/hr=\d\d\/wxr_\w+-00000\.jsonl\.gz$/);
    const rows = await here.bucket.rows([manifest]);
    expect(idsOf(rows)).to.have.members(made.map(({ _id }) => _id));
    expect(Object.keys(rows[0] ?? {})).to.deep.equal(dataset?.columns.map(({ name }) => name));
    expect(rows[0])
      .to.include({ _hs_run_id: id, channel: "email", status: "sent" })
      .and.not.to.have.property("campaign_id");
    const run = await site.runNow(id);
    expect(run).to.deep.include({ status: "completed", attempt: 0, error: null, due_at: null });
    expect(site.usage.get(of.tenant_id)).to.equal(dataset?.files.reduce((sum, { bytes }) => sum + bytes, 0));
    const after = await site.exportNow(row._id);
    expect(after?.watermarks).to.deep.equal({ deliveries: later });
    expect(after?.last_run).to.include({ id, status: "completed", row_count: 1_100 });
  });

  it("are a chain: each manifest names the one before it and its hash, also where nothing changed", async () => {
    await seed(2);
    const row = await site.add(here.destination, of);
    const ends = [later, new Date(later.getTime() + 1_000), new Date(later.getTime() + 2_000)];
    let from = before;
    for (const to of ends) {
      await site.run(await site.begin(row, from, to));
      from = to;
    }
    const manifests = await here.bucket.manifests();
    expect(manifests.map(({ sequence }) => sequence)).to.deep.equal([1, 2, 3]);
    for (const [n, { previous }] of manifests.entries()) {
      if (n === 0) expect(previous).to.equal(null);
      else expect(sha256Of(await here.bucket.read(previous?.key ?? ""))).to.equal(previous?.sha256);
    }
    expect(await here.bucket.rows(manifests)).to.have.length(2);
  });

  it("of a range have a chain of their own, and leave the watermarks", async () => {
    await seed(4);
    const row = await site.add(here.destination, of);
    const id = await site.begin(row, before, later, "backfill");
    await site.run(id);
    expect(await here.bucket.manifests()).to.have.length(1);
    expect((await here.bucket.manifests())[0]).to.deep.include({ chain: id, sequence: 1 });
    const after = await site.exportNow(row._id);
    expect(after).to.deep.include({ chain: row.chain, watermarks: row.watermarks });
  });

  it("killed at each step give each row to one manifest, and the same bytes to a part that is written again", async () => {
    const count = inSuite(2_500, { soak: 8_500 }); // 3 parts, or 9: 8 kills, or 20
    const made = await seed(count);
    const row = await site.add(here.destination, of);
    const id = await site.begin(row, before, later);
    const [kept, died] = [new Map<string, string>(), new Set<string>()];
    for (let deaths = -1; deaths < died.size; ) {
      deaths = died.size;
      await site.run(id, { partRows: 1_000, through: (one) => mortal(one, died, kept) });
      if (deaths < died.size) await expire(id);
    }
    expect(died.size, "before and behind each part and the manifest").to.equal(2 * (Math.ceil(count / 1_000) + 1));
    const manifests = await here.bucket.manifests();
    expect(manifests).to.have.length(1);
    const ids = idsOf(await here.bucket.rows(manifests));
    expect(new Set(ids).size).to.equal(count);
    expect(ids).to.have.members(made.map(({ _id }) => _id));
    expect((await here.bucket.keys()).length, "no file that no manifest names").to.equal(Math.ceil(count / 1_000) + 1);
  });

  /** Ends the lease of a run whose holder is dead. */
  const expire = (_id: string) =>
    site.runs().updateOne({ _id }, { $set: { due_at: new Date(0), lease: null }, $unset: { set_aside: "" } });

  /** A store whose user dies once before and once behind each write; a key that is written again must get the same bytes. */
  const mortal = (one: Destination, died: Set<string>, kept: Map<string, string>): Destination => {
    const kill = (step: string): void => {
      if (died.has(step)) return;
      died.add(step);
      throw new Killed();
    };
    return {
      ...one,
      write: async (file, mode, signal) => {
        kill(`before ${file.key}`);
        expect(kept.get(file.key) ?? sha256Of(file.body), file.key).to.equal(sha256Of(file.body));
        kept.set(file.key, sha256Of(file.body));
        const isNew = await one.write(file, mode, signal);
        kill(`behind ${file.key}`);
        return isNew;
      },
    };
  };

  it("that another process took over write nothing more", async () => {
    await seed(1_500);
    const row = await site.add(here.destination, of);
    const id = await site.begin(row, before, later);
    let isFirst = true;
    const through = (one: Destination): Destination => ({
      ...one,
      write: async (...given) => {
        if (isFirst) {
          isFirst = false;
          await expire(id);
          await site.run(id, { partRows: 1_000 }); // the other one, from begin to end
        }
        return one.write(...given);
      },
    });
    await site.run(id, { partRows: 1_000, through });
    expect(await here.bucket.manifests()).to.have.length(1);
    expect(new Set(idsOf(await here.bucket.rows(await here.bucket.manifests()))).size).to.equal(1_500);
    expect((await site.exportNow(row._id))?.chain).to.deep.include({ sequence: 1, run_id: id });
  });

  it("end when their export is removed", async () => {
    await seed(10);
    const row = await site.add(here.destination, of);
    const id = await site.begin(row, before, later);
    const through = (one: Destination): Destination => ({
      ...one,
      write: async (...given) => {
        await site.exports().deleteOne({ _id: row._id });
        await warehouseRuns(db()).cancelOpen(row._id, new Date());
        return one.write(...given);
      },
    });
    await site.run(id, { through });
    expect(await site.runNow(id)).to.deep.include({ status: "cancelled", due_at: null, lease: null });
    expect(await here.bucket.manifests()).to.deep.equal([]);
  });

  it("are preceded by a test, whose steps leave nothing behind", async () => {
    const row = await site.add(here.destination, of);
    const never = new AbortController().signal;
    const open = await site.openDestination(row._id, row.destination, row.secrets);
    const steps = await testDestination(open, row.destination.prefix, never);
    expect(steps.map(({ name, ok, message }) => [name, ok, message])).to.deep.equal(
      ["resolve", "authenticate", "write", "read_back", "delete", "list"].map((name) => [name, true, null]),
    );
    expect(await here.bucket.keys()).to.deep.equal([]);
    const readOnly = {
      ...open,
      write: () => Promise.reject(new DestinationError("PERMISSION", "the store answered AccessDenied")),
    };
    const failed = await testDestination(readOnly, "", never);
    expect(failed.at(-1)).to.include({
      name: "write",
      ok: false,
      message: "PERMISSION: the store answered AccessDenied",
    });
    open.close();
  });

  it("begin by the schedule, one for all windows that were missed, and none while another is under way", async () => {
    await seed(5);
    const row = await site.add(here.destination, of);
    await site.look(row._id);
    const [run, ...others] = await site.runs().find({ export_id: row._id }).toArray();
    expect(others).to.deep.equal([]);
    expect(run).to.deep.include({ trigger: "schedule", status: "pending" });
    const [{ from, to } = { from: null, to: null }] = run?.datasets ?? [];
    expect(from).to.deep.equal(row.watermarks.deliveries);
    expect((to?.getTime() ?? 0) % 900_000, "a quarter of an hour of the schedule").to.equal(0);
    site.shift(hourMs);
    await site.look(row._id);
    expect(await site.runs().countDocuments({ export_id: row._id }), "one is open").to.equal(1);
    await site.run(run?._id ?? "");
    site.shift(hourMs + 60_000);
    await site.look(row._id);
    const next = await site.runs().findOne({ export_id: row._id, open: true });
    expect(next?.datasets[0]?.from).to.deep.equal(to);
  });

  it("are not begun while the export is paused, and the plan pauses it that no longer has them", async () => {
    const row = await site.add(here.destination, { ...of, status: "paused" });
    await site.look(row._id);
    const without = warehouseSite(db, []);
    const other = await without.add(here.destination, of);
    await without.look(other._id);
    expect(await site.runs().countDocuments()).to.equal(0);
    expect(await site.exportNow(other._id)).to.include({ status: "paused", pause_reason: "plan" });
  });
});
