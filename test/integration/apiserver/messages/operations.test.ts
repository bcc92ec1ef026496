import { expect } from "chai";
import { newId } from "#core/domain/ids.ts";
import type { TimelineEntry } from "#core/schema/messages/timeline.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aMail } from "../../../support/callbacks/deliveries.ts";
import { aSubscription, seed, seedTenant } from "../../../support/rows/fixtures.ts";
import { aChunk, aMessage } from "../../../support/rows/work.ts";

describe("a batch of notifications", () => {
  const { site, tenant } = useSharedSite();
  let to: { include_subscription_ids: string[] };

  before(async () => {
    const phone = aSubscription({ tenant_id: tenant.tenant._id, app_id: tenant.app._id });
    await seed(site.db, { subscriptions: [phone] });
    to = { include_subscription_ids: [phone._id] };
  });

  const one = (more: object = {}) => ({ app_id: tenant.app._id, target: to, contents: { en: "x" }, ...more });
  const batch = async (notifications: readonly unknown[]) => {
    const reply = await site.api.call("POST", "/v1/notifications/batch", {
      token: tenant.token,
      body: { notifications },
    });
    type Result = { index: number; status: number; replayed: boolean; body: { id?: string; error?: { code: string } } };
    return { status: reply.status, results: (reply.body["results"] ?? []) as Result[] };
  };
  const made = () => site.db.collection<MessageRow>("messages").countDocuments({ app_id: tenant.app._id });

  it("accepts each by itself, and answers each as it would have been alone", async () => {
    const before = await made();
    const stranger = await seedTenant(site.db);
    const { status, results } = await batch([
      one(),
      one({ contents: { en: "" } }),
      one({ app_id: stranger.app._id }),
      "no object",
      one({ priority: 7 }),
    ]);
    expect(status).to.equal(200);
    expect(results.map((result) => [result.index, result.status, result.body.error?.code])).to.deep.equal([
      [0, 202, undefined],
      [1, 400, "HS_VALIDATION_ERROR"],
      [2, 404, "HS_NOT_FOUND"],
      [3, 400, "HS_VALIDATION_ERROR"],
      [4, 400, "HS_VALIDATION_ERROR"],
    ]);
    expect(results[0]?.body.id).to.match(/^msg_/);
    expect(await made()).to.equal(before + 1);
  });

  it("makes one message of items and batches with one key", async () => {
    const before = await made();
    const items = [
      one({ idempotency_key: "twice" }),
      one({ idempotency_key: "twice" }),
      one({ idempotency_key: "once" }),
    ];
    const [first, again] = [await batch(items), await batch(items)];
    const ids = [...first.results, ...again.results].map(({ body }) => body.id);
    expect(new Set(ids).size).to.equal(2);
    expect(again.results.map(({ replayed }) => replayed)).to.deep.equal([true, true, true]);
    expect(await made()).to.equal(before + 2);
  });

  it("has 1 to 100 items", async () => {
    expect((await batch([])).status).to.equal(400);
    expect((await batch(Array.from({ length: 101 }, () => one()))).status).to.equal(400);
    const { results } = await batch(Array.from({ length: 100 }, () => one()));
    expect(results).to.have.length(100);
  });

  it("lists notifications by campaign and source, in both orders", async () => {
    const { results } = await batch([one({ campaign_id: "spring" }), one({ campaign_id: "spring", test: true })]);
    const [ofCampaign, test] = results.map(({ body }) => body.id);
    const list = async (query: string) => {
      const path = `/v1/notifications?app_id=${tenant.app._id}&${query}`;
      return (await site.api.call("GET", path, { token: tenant.token })).body.data.map(({ id }) => id);
    };
    for (const sort of ["created_at", "-created_at"]) {
      expect(await list(`campaign_id=spring&sort=${sort}`), sort).to.have.members([ofCampaign, test]);
      expect(await list(`source=campaign&sort=${sort}`)).to.deep.equal([ofCampaign]);
      expect(await list(`kind=test&sort=${sort}`)).to.deep.equal([test]);
    }
    expect(await list("source=journey")).to.deep.equal([]);
    expect(await list("source=api&kind=test")).to.deep.equal([]);
    expect(await list("source=api")).to.not.include(test);
  });

  it("lists all who wait for their time, with a delivery or without, page by page in both orders", async () => {
    const of = { tenant_id: tenant.tenant._id, app_id: tenant.app._id };
    const message = aMessage({ ...of, _id: newId("message", new Date()), status: "processing", due_at: null });
    const devices = Array.from({ length: 7 }, () => aSubscription(of));
    await seed(site.db, { subscriptions: devices });
    const ids = devices.map(({ _id }) => _id).toSorted();
    const at = (minute: number) => new Date(Date.UTC(2026, 5, 1, 12, minute));
    const chunk = (n: number, recipients: string[], more: object) => ({
      ...aChunk({ ...of, _id: `chk_${message._id}${n}`, message_id: message._id, recipients, status: "scheduled" }),
      scheduled_for: at(n),
      ...more,
    });
    const { scheduled_for: _none, ...ofThrottled } = chunk(9, ids.slice(5), {});
    const made = [
      chunk(3, ids.slice(0, 2), {}),
      chunk(1, ids.slice(2, 4), {}),
      chunk(2, ids.slice(4, 5), { has_rows: true }),
      {
        ...ofThrottled,
        _id: `chk_${message._id}9`,
        status: "waiting" as const,
        expected: { from: at(5), until: at(7) },
      },
    ];
    const scheduled = { message_id: message._id, status: "scheduled" as const, attempts: 0 };
    const { delivery } = aMail(of, { ...scheduled, subscription_id: ids[4] ?? "" });
    await site.db.collection<MessageRow>("messages").insertOne(message);
    await site.db.collection<ChunkRow>("chunks").insertMany(made);
    await site.db.collection<DeliveryRow>("deliveries").insertOne(delivery);
    const path = `/v1/notifications/${message._id}/deliveries`;
    const shown = new Map<string, string>();
    const list = async (query: string) => {
      const found: (string | undefined)[] = [];
      for (let cursor = ""; ; ) {
        const { body } = await site.api.call("GET", `${path}?status=scheduled&limit=2&${query}${cursor}`, {
          token: tenant.token,
        });
        const rows = body.data as unknown as { subscription_id: string; scheduled_for: string }[];
        found.push(...rows.map((one) => one.subscription_id));
        for (const one of rows) shown.set(one.subscription_id, one.scheduled_for);
        if (body["next_cursor"] === null) return found;
        cursor = `&cursor=${body["next_cursor"]}`;
      }
    };
    const all = [ids[4], ids[2], ids[3], ids[0], ids[1], ids[5], ids[6]];
    expect(await list("sort=created_at")).to.deep.equal(all);
    expect(await list("sort=-created_at")).to.deep.equal(all.toReversed());
    expect(await list(`subscription_id=${ids[3]}`)).to.deep.equal([ids[3]]);
    expect(await list("channel=sms")).to.deep.equal([]);
    const due = ids.slice(5).map((id) => shown.get(id));
    expect(due, "one after another").to.deep.equal([at(5).toISOString(), at(6).toISOString()]);
  });

  it("tells when a notification changed its state, and by whom", async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const [later] = (await batch([one({ send_after: at })])).results;
    const path = `/v1/notifications/${later?.body.id}`;
    expect((await site.api.call("DELETE", path, { token: tenant.token })).status).to.equal(200);
    const timeline = await site.api.call("GET", `${path}/timeline`, { token: tenant.token });
    const actor = { type: "api_key", id: tenant.key._id };
    const seen = (timeline.body["data"] as unknown as TimelineEntry[]).map(({ state, cause, actor: by }) => ({
      state,
      cause,
      actor: by,
    }));
    expect(seen).to.deep.equal([
      { state: "queued", cause: "accepted", actor },
      { state: "cancelled", cause: "cancelled", actor },
    ]);
  });

  it("shows a delivery with each call of the provider, to its own organisation alone", async () => {
    const of = { tenant_id: tenant.tenant._id, app_id: tenant.app._id };
    const tries = [1, 2].map((minute) => ({
      at: new Date(Date.UTC(2026, 5, 1, 12, minute)),
      provider: "apns",
      code: "PROVIDER_UNAVAILABLE",
      provider_code: "503",
      answer: "overloaded",
    }));
    const { delivery } = aMail(of, { attempts: 3, tries });
    const { delivery: none } = aMail(of, { status: "suppressed", attempts: 0, suppression_reason: "unsubscribed" });
    await site.db.collection<DeliveryRow>("deliveries").insertMany([delivery, none]);
    const show = (id: string, token = tenant.token, app = of.app_id) =>
      site.api.call("GET", `/v1/apps/${app}/deliveries/${id}`, { token });
    const { body } = await show(delivery._id);
    const shown = body["tries"] as { status: string; at: string }[];
    expect(shown.map(({ status }) => status)).to.deep.equal(["retried", "retried", "sent"]);
    expect(shown[0]).to.deep.equal({ ...tries[0], at: "2026-06-01T12:01:00.000Z", status: "retried" });
    expect(body).to.include({ id: delivery._id, attempts: 3, status: "sent" });
    expect((await show(none._id)).body["tries"]).to.deep.equal([]);
    const stranger = await seedTenant(site.db);
    expect((await show(delivery._id, stranger.token, stranger.app._id)).status).to.equal(404);
    expect((await show("dlv_nowhere")).status).to.equal(404);
  });
});
