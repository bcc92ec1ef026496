import { expect } from "chai";
import { newId } from "#core/domain/ids.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import { replayOf } from "#core/storage/webhooks/history.ts";
import type { RecoveryRow, WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { recoverPage } from "../../../../dispatcher/webhooks/history/recover.ts";
import { anEnvelope, aWebhookDelivery } from "../../../support/rows/webhook-deliveries.ts";
import { aWebhook } from "../../../support/rows/webhooks.ts";
import { testDatabase } from "../../../support/servers/database.ts";

describe("a recovery", () => {
  const db = testDatabase("recover");
  const now = new Date("2026-06-01T12:00:00Z");
  const clock = { now: () => now };

  beforeEach(() => rows().deleteMany({}));

  const rows = () => db().collection<WebhookDeliveryRow>("webhook_deliveries");
  const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
  const event = (minutes: number, over: Partial<EventEnvelope> = {}) =>
    anEnvelope({ id: `evt_${minutes}`, timestamp: minutesAgo(minutes).toISOString(), ...over });
  const delivery = (minutes: number, over: Partial<WebhookDeliveryRow> = {}) =>
    aWebhookDelivery(event(minutes), { tenant_id: "ten_1", endpoint_id: "whk_1", ...over });
  const success: Partial<WebhookDeliveryRow> = { status: "success", delivered_at: now };
  const failed = { status: "failed", due_at: new Date(now.getTime() + 3_600_000) } as const;
  const pending: Partial<WebhookDeliveryRow> = { status: "pending", attempt: 0, attempts: [], due_at: now };
  /** As it became of a delivery that was sent again before. */
  const replayed = (row: WebhookDeliveryRow, over: Partial<WebhookDeliveryRow>): WebhookDeliveryRow => ({
    ...replayOf(row, newId("webhookDelivery", minutesAgo(5)), minutesAgo(5)),
    ...over,
  });
  const store = async (...all: WebhookDeliveryRow[]): Promise<void> => void (await rows().insertMany(all));

  const aRecovery = (over: Partial<RecoveryRow> = {}): RecoveryRow => ({
    id: "rec_1",
    kind: "recover",
    since: minutesAgo(60),
    until: now,
    status: null,
    event_type: null,
    after: null,
    replayed: 0,
    requested_at: now,
    completed_at: null,
    ...over,
  });
  const page = (recovery: RecoveryRow): Promise<RecoveryRow> =>
    recoverPage({ db: db(), clock }, aWebhook({ recovery }) satisfies WebhookRow);
  /** Page by page to the end; how many there were. */
  const run = async (recovery: RecoveryRow): Promise<{ pages: number; last: RecoveryRow }> => {
    let last = recovery;
    for (let pages = 1; ; pages++) {
      last = await page(last);
      if (last.completed_at !== null) return { pages, last };
      expect(pages).to.be.below(50);
    }
  };
  const made = async (): Promise<WebhookDeliveryRow[]> =>
    rows()
      .find({ status: "pending", replay_of: { $ne: null } })
      .sort({ event_id: 1 })
      .toArray();

  it("makes a new delivery of each dead one, and leaves the others alone", async () => {
    const dead = delivery(10);
    await store(dead, delivery(11, success), delivery(12, pending), delivery(13, { endpoint_id: "whk_2" }));
    const { last } = await run(aRecovery());
    expect(last).to.deep.include({ replayed: 1, completed_at: now, after: null });
    const [one, ...others] = await made();
    expect(others).to.deep.equal([]);
    expect(one).to.deep.equal({
      ...dead,
      _id: one?._id,
      status: "pending",
      attempt: 0,
      attempts: [],
      due_at: now,
      replay_of: dead._id,
      created_at: now,
    });
    expect(await rows().findOne({ _id: dead._id })).to.deep.equal(dead);
  });

  it("finds what was missed while the endpoint was disabled", async () => {
    await store(delivery(10, { attempt: 0, attempts: [], error: "endpoint disabled" }));
    expect((await run(aRecovery())).last.replayed).to.equal(1);
    expect((await made())[0]).to.include({ error: null });
  });

  it("keeps to its window, both ends of which belong to it", async () => {
    await store(...[19, 20, 25, 30, 31].map((minutes) => delivery(minutes)));
    await run(aRecovery({ since: minutesAgo(30), until: minutesAgo(20) }));
    expect((await made()).map(({ event_id }) => event_id)).to.deep.equal(["evt_20", "evt_25", "evt_30"]);
  });

  it("tries failed deliveries again at once, instead of making others", async () => {
    const soon = delivery(11, { ...failed, due_at: minutesAgo(1) });
    await store(delivery(10, failed), soon, delivery(90, failed));
    expect((await run(aRecovery())).last.replayed).to.equal(0);
    const dues = await rows().find().sort({ event_id: 1 }).toArray();
    expect(dues.map(({ due_at }) => due_at)).to.deep.equal([now, soon.due_at, failed.due_at]);
  });

  for (const [name, over, times] of [
    ["has arrived", success, 0],
    ["is on its way", pending, 0],
    ["is being tried again", failed, 0],
    ["failed as well", {}, 1],
  ] as const) {
    it(`sends an event whose replay ${name} ${times === 0 ? "not again" : "once"}`, async () => {
      const dead = delivery(10);
      const again = replayed(dead, { status: "dead", due_at: null, ...over });
      await store(dead, again);
      await run(aRecovery({ until: minutesAgo(1) }));
      expect((await made()).filter(({ _id }) => _id !== again._id)).to.have.length(times);
    });
  }

  it("does not send an event that arrived before its replay failed", async () => {
    const arrived = delivery(10, success);
    await store(arrived, replayed(arrived, { status: "dead", due_at: null }));
    expect((await run(aRecovery())).last.replayed).to.equal(0);
    expect(await made()).to.deep.equal([]);
  });

  for (const kind of ["recover", "replay"] as const) {
    it(`sends no test again: ${kind}`, async () => {
      await store(aWebhookDelivery(event(10, { type: "webhook.test" }), { tenant_id: "ten_1", endpoint_id: "whk_1" }));
      expect((await run(aRecovery({ kind }))).last.replayed).to.equal(0);
    });
  }

  const many = (count: number, over: (n: number) => Partial<WebhookDeliveryRow> = () => ({})) =>
    Array.from({ length: count }, (_, n) => {
      const at = new Date(minutesAgo(50).getTime() + n * 1_000);
      const one = anEnvelope({ id: `evt_m${n}`, timestamp: at.toISOString() });
      return aWebhookDelivery(one, { tenant_id: "ten_1", endpoint_id: "whk_1", ...over(n) });
    });

  it("goes page by page over many, dead and failed in turn", async () => {
    await store(...many(900, (n) => (n % 2 === 0 ? {} : failed)));
    const { pages, last } = await run(aRecovery());
    expect([pages, last.replayed]).to.deep.equal([10, 450]);
    expect(await made()).to.have.length(450);
    expect(await rows().countDocuments({ status: "failed", due_at: now })).to.equal(450);
  });

  it("makes nothing twice when a page is done again, after a crash before it was noted", async () => {
    await store(...many(300));
    const first = await page(aRecovery());
    const again = await page(aRecovery());
    expect(again).to.deep.equal(first);
    const { last } = await run(again);
    expect([last.replayed, (await made()).length]).to.deep.equal([300, 300]);
  });

  it("is over at once where there is nothing", async () => {
    expect((await run(aRecovery())).pages).to.equal(1);
  });

  describe("of everything that fits", () => {
    const statuses = [success, failed, {}, pending] as const;
    const kinds = ["user.created", "delivery.sent"] as const;
    const every = () =>
      many(400, (n) => ({ ...statuses[n % 4], event_type: kinds[Math.floor(n / 4) % 2] ?? "delivery.sent" }));

    for (const [name, filter, fits] of [
      ["all that has been tried", {}, (row) => row.status !== "pending"],
      ["a status", { status: "success" }, (row) => row.status === "success"],
      [
        "a kind",
        { event_type: "user.created" },
        (row) => row.status !== "pending" && row.event_type === "user.created",
      ],
      [
        "both",
        { status: "dead", event_type: "user.created" },
        (row) => row.status === "dead" && row.event_type === "user.created",
      ],
    ] as [string, Partial<RecoveryRow>, (row: WebhookDeliveryRow) => boolean][]) {
      it(`sends again: ${name}`, async () => {
        const all = every();
        await store(...all);
        const { last } = await run(aRecovery({ kind: "replay", ...filter }));
        const expected = all.filter(fits).map(({ _id }) => _id);
        const sources = (await made()).map(({ replay_of }) => replay_of);
        expect(sources).to.have.members(expected);
        expect(last.replayed).to.equal(expected.length);
      });
    }

    it("goes page by page, and twice over the same page makes nothing twice", async () => {
      await store(...many(500, (n) => (n % 2 === 0 ? success : {})));
      const recovery = aRecovery({ kind: "replay" });
      await page(recovery);
      const { pages } = await run(recovery);
      expect([pages, (await made()).length]).to.deep.equal([6, 500]);
    });
  });
});
