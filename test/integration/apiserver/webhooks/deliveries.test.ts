import { expect } from "chai";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { anAttempt, anEnvelope, aWebhookDelivery } from "../../../support/rows/webhook-deliveries.ts";

const kinds = ["delivery.sent", "delivery.failed", "user.created"] as const;
const statuses = ["pending", "success", "failed", "dead"] as const;
const startedAt = Date.now() - 3_600_000;

describe("deliveries of a webhook", () => {
  const { site, tenant } = useSharedSite();
  let base: string;
  let id: string;
  let seeded: WebhookDeliveryRow[];

  before(async () => {
    base = `/v1/apps/${tenant.app._id}/webhooks`;
    id = await endpoint();
    seeded = Array.from({ length: 48 }, (_, n) => delivery(n)).sort((a, b) => (a._id < b._id ? 1 : -1));
    await rows().insertMany(seeded);
  });

  const call = (method: string, path: string, body?: object) =>
    site.api.call(method, base + path, { token: tenant.token, ...(body !== undefined && { body }) });
  const rows = () => site.db.collection<WebhookDeliveryRow>("webhook_deliveries");
  const endpoint = async (): Promise<string> =>
    (await call("POST", "", { url: "https://hooks.example.com/in", events: ["delivery.sent"] })).body.id;

  /** Every status of every kind; each second the next. */
  const delivery = (n: number, over: Partial<WebhookDeliveryRow> = {}): WebhookDeliveryRow => {
    const status = statuses[n % 4] ?? "dead";
    const event = anEnvelope({
      id: `evt_${n}`,
      type: kinds[Math.floor(n / 4) % 3] ?? "delivery.sent",
      timestamp: new Date(startedAt + n * 1_000).toISOString(),
      app_id: tenant.app._id,
    });
    const isWaiting = status === "pending" || status === "failed";
    return aWebhookDelivery(event, {
      tenant_id: tenant.tenant._id,
      endpoint_id: id,
      status,
      ...(status === "pending" && { attempt: 0, attempts: [] }),
      due_at: isWaiting ? new Date(startedAt + 7_200_000) : null,
      ...over,
    });
  };
  const list = async (query: string, of = id) => (await call("GET", `/${of}/deliveries?${query}`)).body;
  const idsOf = (all: readonly { _id: string }[]) => all.map(({ _id }) => _id);

  for (const [name, query, fits] of [
    ["all", "", () => true],
    ["a status", "status=failed&", (row) => row.status === "failed"],
    ["a kind", "event_type=user.created&", (row) => row.event_type === "user.created"],
    [
      "a kind and a status",
      "event_type=delivery.sent&status=dead&",
      (row) => row.event_type === "delivery.sent" && row.status === "dead",
    ],
    ["a kind that never came", "event_type=journey.exited&", () => false],
    ["no kind at all", "event_type=nonsense&", () => false],
  ] as [string, string, (row: WebhookDeliveryRow) => boolean][]) {
    it(`are listed page by page, the newest first: ${name}`, async () => {
      const seen: string[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page = await list(`${query}limit=7${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
        seen.push(...page.data.map((one) => one.id));
        expect(page.has_more).to.equal(page.next_cursor !== null);
        cursor = page.next_cursor;
      }
      expect(seen).to.deep.equal(idsOf(seeded.filter(fits)));
    });
  }

  it("are listed without what they say, with how the last request went", async () => {
    const attempts = [anAttempt(), anAttempt({ duration_ms: 34, response_body_excerpt: "sorry" })];
    const row = delivery(1_000, { attempt: 2, attempts, status: "failed", due_at: new Date(startedAt + 9_000_000) });
    const of = await endpoint();
    await rows().insertOne({ ...row, endpoint_id: of });
    const { data } = await list("", of);
    expect(data).to.deep.equal([
      {
        id: row._id,
        endpoint_id: of,
        event_type: row.event_type,
        event_id: row.event_id,
        subject_id: null,
        attempt: 2,
        status: "failed",
        response_status: 500,
        response_body_excerpt: "sorry",
        error: "answered 500",
        error_class: "server_error",
        duration_ms: 34,
        next_retry_at: new Date(startedAt + 9_000_000).toISOString(),
        delivered_at: null,
        replay_of: null,
        created_at: row.created_at.toISOString(),
      },
    ]);
  });

  for (const [name, query, path] of [
    ["another filter", "status=dead&", () => ""],
    ["a further filter", "status=success&event_type=user.created&", () => ""],
    ["another endpoint", "status=success&", () => endpoint()],
  ] as [string, string, () => string | Promise<string>][]) {
    it(`refuses the cursor of ${name}`, async () => {
      const { next_cursor: cursor } = await list("status=success&limit=2");
      const of = (await path()) || id;
      const reply = await call("GET", `/${of}/deliveries?${query}cursor=${encodeURIComponent(cursor ?? "")}`);
      expect([reply.status, reply.body.error.details["field"]]).to.deep.equal([400, "cursor"]);
    });
  }

  for (const [query, field] of [
    ["limit=0", "limit"],
    ["limit=201", "limit"],
    ["status=sent", "status"],
    [`event_type=${"x".repeat(65)}`, "event_type"],
    ["cursor=abc", "cursor"],
  ] as const) {
    it(`refuses ${query.slice(0, 20)}`, async () => {
      const reply = await call("GET", `/${id}/deliveries?${query}`);
      expect([reply.status, reply.body.error.details["field"]]).to.deep.equal([400, field]);
    });
  }

  const one = (status: string) => seeded.find((row) => row.status === status) as WebhookDeliveryRow;

  it("are shown with what they say, and each of their requests", async () => {
    const row = one("dead");
    const { body } = await call("GET", `/deliveries/${row._id}`);
    expect(body).to.deep.include({ id: row._id, payload: JSON.parse(row.payload) as object, status: "dead" });
    const attempts = await call("GET", `/deliveries/${row._id}/attempts`);
    const { at, ...attempt } = anAttempt();
    expect(attempts.body.data).to.deep.equal([{ ...attempt, at: at.toISOString() }]);
    expect((await call("GET", `/deliveries/${one("pending")._id}/attempts`)).body.data).to.deep.equal([]);
  });

  it("are gone with their endpoint, and when there are none", async () => {
    const of = await endpoint();
    const row = { ...delivery(2_000), endpoint_id: of };
    await rows().insertOne(row);
    expect((await call("GET", `/deliveries/${row._id}`)).status).to.equal(200);
    await call("DELETE", `/${of}`);
    for (const path of [`/deliveries/${row._id}`, `/deliveries/${row._id}/attempts`, "/deliveries/whd_none"]) {
      expect((await call("GET", path)).status, path).to.equal(404);
    }
    expect((await call("POST", `/deliveries/${row._id}/replay`)).status).to.equal(404);
  });
});
