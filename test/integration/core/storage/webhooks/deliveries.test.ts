import { expect } from "chai";
import { shareOf } from "#core/domain/webhooks/shares.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import {
  type DeliveryResult,
  type WebhookDeliveryRow,
  webhookDeliveries,
  webhookDeliveryCollection,
} from "#core/storage/webhooks/deliveries.ts";
import { anyDelivery, webhookHistory } from "#core/storage/webhooks/history.ts";
import { anAttempt, anEnvelope, aWebhookDelivery } from "../../../../support/rows/webhook-deliveries.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

const now = new Date("2026-11-21T12:00:00Z");
const later = new Date(now.getTime() + 60_000);

describe("the deliveries of webhooks", () => {
  const db = testDatabase("webhook_deliveries", [webhookDeliveryCollection]);
  const rows = () => collectionOf<WebhookDeliveryRow>(db(), webhookDeliveryCollection);
  let deliveries: ReturnType<typeof webhookDeliveries>;

  before(async () => {
    deliveries = webhookDeliveries(db());
  });
  beforeEach(() => rows().deleteMany({}));

  const waiting = (count = 1): WebhookDeliveryRow[] =>
    Array.from({ length: count }, (_, n) =>
      aWebhookDelivery(anEnvelope({ id: `evt_${n}`, timestamp: new Date(now.getTime() + n).toISOString() }), {
        tenant_id: "ten_1",
        endpoint_id: "whk_1",
        status: "pending",
        attempt: 0,
        attempts: [],
        due_at: now,
      }),
    );
  const aRow = (): WebhookDeliveryRow => waiting()[0] ?? expect.fail();
  const outcomes = {
    success: { status: "success", due_at: null, delivered_at: now },
    failed: { status: "failed", due_at: later, delivered_at: null },
    dead: { status: "dead", due_at: null, delivered_at: null },
  } as const;
  const resultOf = ({ _id, attempt }: WebhookDeliveryRow, outcome: keyof typeof outcomes): DeliveryResult => ({
    _id,
    attempt: attempt + 1,
    ...outcomes[outcome],
    made: anAttempt(),
  });
  const stored = async (): Promise<WebhookDeliveryRow> => (await rows().findOne()) ?? expect.fail();

  it("of batches are known by their events, each endpoint's by itself", async () => {
    const batch = { ...aRow(), event_ids: ["evt_1", "evt_2", "evt_3"] };
    await deliveries.keep([batch, { ...batch, _id: "whd_2", endpoint_id: "whk_2", event_ids: ["evt_4"] }]);
    expect([...(await deliveries.grouped("whk_1", ["evt_2", "evt_4", "evt_5"]))])
      .to.include("evt_2")
      .and.not.include("evt_4");
    expect(await deliveries.grouped("whk_3", ["evt_2"])).to.deep.equal(new Set());
  });

  describe("that are under way when their endpoint is disabled", () => {
    const disabled = { status: "dead", error: "endpoint disabled", due_at: null } as const;
    const expected = {
      success: { ...outcomes.success, error: null },
      failed: { ...disabled, delivered_at: null },
      dead: { ...outcomes.dead, error: null },
    };
    for (const outcome of ["success", "failed", "dead"] as const) {
      it(`end as their request does: ${outcome}`, async () => {
        const row = aRow();
        await deliveries.keep([row]);
        await deliveries.endPage("whk_1", "endpoint disabled");
        await deliveries.record([resultOf(row, outcome)]);
        expect(await stored()).to.deep.include({ ...expected[outcome], attempt: 1, attempts: [anAttempt()] });
      });

      it(`end as their request does, stored by another process meanwhile: ${outcome}`, async () => {
        const row = aRow();
        await deliveries.keep([row]);
        await deliveries.endPage("whk_1", "endpoint disabled");
        await deliveries.keep([{ ...row, ...outcomes[outcome], attempt: 1, attempts: [anAttempt()] }]);
        expect(await stored()).to.deep.include({ ...expected[outcome], attempt: 1, attempts: [anAttempt()] });
      });
    }
  });

  it("are not ended by a disabling once they have arrived", async () => {
    for (let round = 0; round < 30; round++) {
      await rows().deleteMany({});
      const row = aRow();
      await deliveries.keep([row]);
      await Promise.all([
        deliveries.endPage("whk_1", "endpoint disabled"),
        deliveries.record([resultOf(row, "success")]),
      ]);
      expect(await stored()).to.include({ status: "success", error: null });
    }
  });

  it("that wait are found by their share, one endpoint after the other, with the first instant of each", async () => {
    const at = (minutes: number) => new Date(now.getTime() + minutes * 60_000);
    const ids = Array.from({ length: 1_000 }, (_, n) => `whk_${n}`).sort();
    const share = shareOf("whk_1");
    const [a = "", b = "", c = "", d = ""] = ids.filter((id) => shareOf(id) === share);
    const other = ids.find((id) => shareOf(id) !== share) ?? "";
    const waits = [
      [a, "pending", at(3)],
      [a, "failed", at(2)],
      [a, "failed", at(1)],
      [b, "failed", at(5)],
      [b, "pending", at(4)],
      [c, "success", null],
      [d, "pending", at(6)],
      [other, "pending", at(0)],
    ] as const;
    await deliveries.keep(
      waits.map(([endpoint_id, status, due_at], n) => {
        return { ...aRow(), _id: `whd_${n}`, endpoint_id, share: shareOf(endpoint_id), status, due_at };
      }),
    );
    const found: object[] = [];
    for (let next = await deliveries.nextWaiting(share, ""); next !== null; ) {
      found.push(next);
      next = await deliveries.nextWaiting(share, next.endpointId);
    }
    expect(found).to.deep.equal([
      { endpointId: a, dueAt: at(1) },
      { endpointId: b, dueAt: at(4) },
      { endpointId: d, dueAt: at(6) },
    ]);
  });

  it("of a kind are listed each once while they move from status to status", async () => {
    const { list } = webhookHistory(db());
    const whole = waiting(60);
    const ids = whole.map(({ _id }) => _id).toReversed();
    const page = { ...anyDelivery, isDescending: true, limit: 100 };
    const move = async (): Promise<void> => {
      for (const row of whole) {
        await deliveries.record([resultOf(row, "failed")]);
        await deliveries.record([resultOf({ ...row, attempt: 1 }, "success")]);
      }
    };
    for (let round = 0; round < 4; round++) {
      await rows().deleteMany({});
      await deliveries.keep(whole);
      const state = { isMoving: true };
      const moving = move().finally(() => void (state.isMoving = false));
      while (state.isMoving) {
        const rows = await list("whk_1", { status: null, eventType: "delivery.sent" }, page);
        expect(rows.map(({ _id }) => _id)).to.deep.equal(ids);
      }
      await moving;
    }
  });
});
