import { expect } from "chai";
import { type ChunkRow, chunkCollection } from "#core/storage/messages/chunks.ts";
import { type MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { suspension } from "#core/storage/suspension.ts";
import { type TenantRow, tenantCollection } from "#core/storage/tenants/tenants.ts";
import { type Suspensions, suspensions } from "../../../../dispatcher/work/suspensions.ts";
import { aTenant } from "../../../support/rows/fixtures.ts";
import { aChunk, aMessage } from "../../../support/rows/work.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { until } from "../../../support/until.ts";

/** So often they are read without an announcement: what comes sooner came by one. */
const readByItselfMs = 10_000;

describe("the suspensions of tenants", () => {
  const db = testDatabase("suspensions");
  let started: ReturnType<typeof suspensions>[] = [];
  let announce: (collection: string, id: string) => void;

  afterEach(async () => {
    for (const one of started) await one.stop(AbortSignal.timeout(1_000));
    started = [];
  });

  const aTenantRow = async (over: Partial<TenantRow> = {}): Promise<string> => {
    const row = aTenant(over);
    await db().collection<TenantRow>(tenantCollection.name).insertOne(row);
    return row._id;
  };
  const suspend = (id: string, suspended: boolean) =>
    db().collection<TenantRow>(tenantCollection.name).updateOne({ _id: id }, { $set: { suspended } });
  const start = async (over: Partial<Parameters<typeof suspensions>[0]> = {}): Promise<Suspensions> => {
    const listeners: (typeof announce)[] = [];
    announce = (collection, id) => listeners.forEach((listen) => listen(collection, id));
    const one = suspensions({
      suspension: suspension(db()),
      changes: { on: (listener) => void listeners.push(listener) },
      onError: (error) => expect.fail(String(error)),
      clock: { now: () => new Date() },
      ...over,
    });
    await one.start(new AbortController().signal);
    started.push(one);
    return one;
  };
  /** A message and a chunk that wait for a tenant until a minute from now. */
  const deferredFor = async (tenantId: string) => {
    const id = tenantId.slice(-8);
    const wait = { tenant_id: tenantId, suspended_tenant: tenantId, due_at: new Date(Date.now() + 60_000) };
    const messages = db().collection<MessageRow>(messageCollection.name);
    await messages.insertOne(aMessage({ _id: `msg_${id}`, ...wait }));
    await messages.insertOne(aMessage({ _id: `msg_${id}_ended`, ...wait, due_at: null, status: "completed" }));
    await collectionOf<ChunkRow>(db(), chunkCollection).insertOne(aChunk({ _id: `chk_${id}`, ...wait }));
    const read = () =>
      Promise.all([
        messages.findOne({ _id: `msg_${id}` }),
        collectionOf<ChunkRow>(db(), chunkCollection).findOne({ _id: `chk_${id}` }),
      ]);
    return {
      isReleased: async () =>
        (await read()).every(
          (row) => row?.suspended_tenant === undefined && (row?.due_at?.getTime() ?? 0) <= Date.now(),
        ),
      ended: () => messages.findOne({ _id: `msg_${id}_ended` }),
    };
  };

  it("are known from the start, and follow what is announced", async () => {
    const [first, second] = [await aTenantRow({ suspended: true }), await aTenantRow()];
    const some = await start();
    expect([some.has(first), some.has(second)]).to.deep.equal([true, false]);
    await suspend(first, false);
    await suspend(second, true);
    announce("apps", first);
    announce("tenants", second);
    await until(() => !some.has(first) && some.has(second), readByItselfMs / 2);
  });

  it("halt the work of their tenant alone, also when it begins at that moment", async () => {
    const [wanted, other] = [await aTenantRow(), await aTenantRow()];
    const some = await start();
    const halted: string[] = [];
    const over = new AbortController();
    const work = (id: string) =>
      some.during(id, async (signal) => {
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve());
          over.signal.addEventListener("abort", () => resolve());
        });
        if (signal.aborted) halted.push(id);
      });
    const all = [work(wanted), work(wanted), work(other)];
    await suspend(wanted, true);
    announce("tenants", wanted);
    await until(() => halted.length === 2, readByItselfMs / 2);
    expect(await some.during(wanted, async ({ aborted }) => aborted)).to.equal(true);
    over.abort();
    await Promise.all(all);
    expect(halted).to.deep.equal([wanted, wanted]);
  });

  it("release what was deferred, and make nothing due that has ended", async () => {
    const tenant = await aTenantRow({ suspended: true });
    const resumed: string[] = [];
    const some = await start();
    some.onResume((id) => resumed.push(id));
    const deferred = await deferredFor(tenant);
    await suspend(tenant, false);
    announce("*", "*");
    await until(deferred.isReleased, readByItselfMs / 2);
    expect(resumed).to.deep.equal([tenant]);
    expect(await deferred.ended())
      .to.deep.include({ due_at: null })
      .and.not.to.have.property("suspended_tenant");
  });

  it("release at once what is deferred for a tenant that may send again", async () => {
    const tenant = await aTenantRow();
    const some = await start();
    let deferred: Awaited<ReturnType<typeof deferredFor>> | undefined;
    await some.defer(tenant, async () => (deferred = await deferredFor(tenant)));
    expect(await deferred?.isReleased()).to.equal(true);
  });

  it("are read again by themselves when an announcement was lost", async () => {
    const tenant = await aTenantRow();
    const some = await start();
    await suspend(tenant, true);
    await until(() => some.has(tenant), 2 * readByItselfMs);
  });
});
