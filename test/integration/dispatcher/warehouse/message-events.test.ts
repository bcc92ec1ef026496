import { expect } from "chai";
import type { Db } from "mongodb";
import { eventIdOf, happenedTo } from "#core/domain/exports/message-events.ts";
import { ulid } from "#core/domain/ids.ts";
import { progressed } from "#core/domain/messages/progress.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { passedOver } from "#core/storage/messages/passed-over.ts";
import { receiptStore } from "#core/storage/messages/receipts.ts";
import { waitingDeliveries } from "#core/storage/messages/waiting.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { changedById } from "#core/storage/warehouse/changes.ts";
import { openDataset } from "../../../../dispatcher/warehouse/datasets.ts";
import { aReceipt, facts } from "../../../support/callbacks/deliveries.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";
import { lendDatabase } from "../../../support/servers/database.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { deliveriesFrom } from "../../../support/warehouse/site.ts";

const hourMs = 3_600_000;
const count = 1_200; // more than a page

describe("the events of messages in a warehouse", () => {
  let db: Db;
  let giveBack: () => Promise<void>;
  let of: { tenantId: string; appId: string };
  let inApp: { tenant_id: string; app_id: string };
  const start = new Date(Date.now() - 6 * hourMs);
  const within = (window: number): Date => new Date(start.getTime() + (window + 0.5) * hourMs);
  const rows = () => collectionOf<DeliveryRow>(db, deliveryCollection);

  before(async () => {
    ({ db, giveBack } = await lendDatabase((await testServers()).mongodbUrl));
  });
  beforeEach(async () => {
    const { app } = await seedTenant(db);
    of = { tenantId: app.tenant_id, appId: app._id };
    inApp = { tenant_id: app.tenant_id, app_id: app._id };
  });
  after(() => giveBack?.());

  /** The ids of a window's events; something is done between its pages. */
  const read = async (window: number, meanwhile: () => Promise<void>): Promise<string[]> => {
    const choice = { excluded: [], includePii: false };
    const run = { exportedAt: start, runId: "wxr_1", eventNames: null, hash: (text: string) => text };
    const { columns, pages } = openDataset(db, "message_events", { of, choice, ...run });
    const at = columns.findIndex(({ name }) => name === "id");
    const from = new Date(start.getTime() + window * hourMs);
    const ids: string[] = [];
    for await (const page of pages({ from, to: new Date(from.getTime() + hourMs), after: null })) {
      ids.push(...page.rows.map((row) => row[at] as string)); // sound: a column of texts
      await meanwhile();
    }
    return ids;
  };

  const kinds = [facts.delivered, facts.opened, facts.clicked, { ...facts.opened, machine: true }, facts.complained];

  /** Every third delivery that was sent gets a receipt, in the window `window`. */
  const receive = async (made: readonly DeliveryRow[], window: number, turn: number): Promise<void> => {
    const store = receiptStore(db);
    const found = await store.find(made.filter((_, n) => n % 3 === turn % 3).map(({ _id }) => _id));
    const fact = kinds[turn % kinds.length] ?? facts.delivered;
    const moves = found.map((before) => ({
      before,
      after: progressed(before, [aReceipt(before, fact, turn)], within(window)),
    }));
    expect(await store.move(moves, within(window))).to.equal(true);
  };

  it("are each in one window, however often and whenever deliveries change, also while they are read", async () => {
    const made = deliveriesFrom(inApp, within(0), count);
    const [waits, cancelled, leftOut] = [made.slice(0, 20), made.slice(20, 40), made.slice(40, 60)];
    const others = made.slice(60);
    const { sent_at: _, ...unsent } = made[0] ?? ({} as DeliveryRow);
    const waiting = (row: DeliveryRow): DeliveryRow => ({ ...unsent, ...idsOf(row), status: "scheduled" });
    const suppressed = { status: "suppressed" as const, suppression_reason: "duplicate_user" };
    await rows().insertMany([
      ...[...waits, ...cancelled].map(waiting),
      ...leftOut.map((row) => ({ ...unsent, ...idsOf(row), ...suppressed })),
      ...others,
    ]);
    const again = (row: DeliveryRow, window: number): DeliveryRow => ({
      ...row,
      position: ulid(within(window)),
      sent_at: within(window),
      created_at: within(window),
      updated_at: within(window),
    });
    let turn = 0;
    const ids: string[] = [];
    for (const window of [0, 1, 2]) {
      await receive(others, window, turn++);
      ids.push(...(await read(window, () => receive(others, window + 1, turn++))));
      if (window === 0) {
        await waitingDeliveries(db).replace(waits.map((row) => again(row, 1)));
        await waitingDeliveries(db).cancel(
          cancelled.map(({ _id }) => _id),
          within(1),
        );
        const known = await passedOver(db).replace(leftOut.map((row) => again(row, 1)));
        expect(known.size, "their places are taken").to.equal(0);
      }
    }
    for (const window of [3, 4]) ids.push(...(await read(window, async () => undefined)));
    expect(new Set(ids).size, "no id twice").to.equal(ids.length);
    const stored = await rows().find(inApp).toArray();
    expect(stored).to.have.length(count);
    const happened = stored.flatMap((row) => happenedTo(row).map((one) => eventIdOf(row, one)));
    const before = leftOut.map((row) => eventIdOf(row, { event: "suppressed", at: row.created_at }));
    expect(ids.toSorted()).to.deep.equal([...happened, ...before].toSorted());
    expect(turn, "that rows moved between pages").to.be.greaterThan(6);
  });

  const idsOf = ({ _id, message_id, subscription_id, position }: DeliveryRow) => ({
    _id,
    message_id,
    subscription_id,
    position,
  });

  it("are read of the lowest ids first where there are more than are kept at once", async () => {
    const made = deliveriesFrom(inApp, within(0), 2_200);
    await rows().insertMany(made);
    const asked = { of, from: start, to: within(1), after: null, members: ["message_id"], by: "updated_at" as const };
    const found: string[] = [];
    for await (const page of changedById(rows(), asked, 500)) found.push(...page.map(({ _id }) => _id));
    expect(found).to.deep.equal(made.map(({ _id }) => _id).toSorted());
    const behind = found[1_700] ?? "";
    const rest: string[] = [];
    const place = { at: start, id: behind };
    for await (const page of changedById(rows(), { ...asked, after: place }, 500))
      rest.push(...page.map(({ _id }) => _id));
    expect(rest).to.deep.equal(found.slice(1_701));
  });
});
