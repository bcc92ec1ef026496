import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { allCollections } from "#core/storage/collections.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import { operations } from "../../../../apiserver/features.ts";
import { type Installation, installation } from "../../../support/api/api.ts";
import { formOf } from "../../../support/api/form.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";
import { anEnvelope, aWebhookDelivery } from "../../../support/rows/webhook-deliveries.ts";
import { until } from "../../../support/until.ts";

describe("tenancy", () => {
  let site: Installation;
  let ours: Awaited<ReturnType<typeof seedTenant>>;
  let theirs: Awaited<ReturnType<typeof seedTenant>>;
  let ids: Record<string, string>;

  before(async function () {
    this.timeout(60_000);
    site = await installation();
    ours = await seedTenant(site.db);
    theirs = await seedTenant(site.db);
    const call = (path: string, body: object) => site.api.call("POST", path, { token: theirs.token, body });
    const user = await call(`/v1/apps/${theirs.app._id}/users`, {
      external_id: "them",
      subscriptions: [{ channel: "email", token: "them@example.com" }],
    });
    const body = { app_id: theirs.app._id, target: { all: true }, contents: { en: "x" } };
    ids = {
      appId: theirs.app._id,
      label: "external_id",
      id: "them",
      subscriptionId: user.body.subscriptions[0]?.id ?? "",
      messageId: (await call("/v1/notifications", body)).body.id,
      webhookId: await webhookOf(theirs),
      deliveryId: "whd_theirs",
      channel: "ios_push",
      activityType: await activityTypeOf(theirs),
      name: "their.event",
      exportId: (await call(`/v1/apps/${theirs.app._id}/exports`, { type: "users" })).body.id,
      importId: await importOf(theirs),
      suppressionId: (await call(`/v1/apps/${theirs.app._id}/suppressions`, { external_id: "them" })).body.id,
    };
    await call(`/v1/apps/${theirs.app._id}/events`, { events: [{ name: "their.event" }] });
    const row = { tenant_id: theirs.tenant._id, endpoint_id: ids["webhookId"] ?? "", _id: "whd_theirs" };
    const delivery = aWebhookDelivery(anEnvelope({ app_id: theirs.app._id }), row);
    await site.db.collection<WebhookDeliveryRow>("webhook_deliveries").insertOne(delivery);
    await until(isQuiet, 10_000);
  });
  after(() => site.close());

  const webhookOf = async ({ app, token }: typeof ours): Promise<string> => {
    const body = { url: "https://hooks.example.com/", events: ["delivery.sent"] };
    return (await site.api.call("POST", `/v1/apps/${app._id}/webhooks`, { token, body })).body.id;
  };
  const activityTypeOf = async ({ app, token }: typeof ours): Promise<string> => {
    const body = { name: "match", content_state_schema: { type: "object", properties: {} } };
    return (await site.api.call("POST", `/v1/apps/${app._id}/live-activities/types`, { token, body })).body.id;
  };
  const importOf = async ({ app, token }: typeof ours): Promise<string> => {
    const upload = formOf({ type: "csv_users", file: "external_id\nthem\n" });
    return (await site.api.call("POST", `/v1/apps/${app._id}/imports`, { token, ...upload })).body.id;
  };
  /** All that is theirs, in every collection whose documents are somebody's. */
  const everything = () =>
    Promise.all(
      allCollections
        .filter(({ owner }) => owner.kind !== "installation")
        .map(({ name }) => site.db.collection(name).find({ tenant_id: theirs.tenant._id }).sort({ _id: 1 }).toArray()),
    );
  /** What follows from their requests, e.g. that events were published, is written after the replies. */
  const isQuiet = async (): Promise<boolean> => {
    const before = await everything();
    await sleep(500);
    return isDeepStrictEqual(await everything(), before);
  };

  // What a key of ours tries: their app in the path, and our own app with the ids of what is theirs.
  const keyed = operations.filter(({ scopes }) => scopes !== "public");
  for (const { method, path, form } of keyed) {
    for (const own of [false, true]) {
      const isThing = path.startsWith("/v1/apps/{appId}/") && /\{(?!appId)/.test(path);
      if (own && !isThing) continue;
      it(`answers 404 to ${method} ${path} of ${own ? "another's thing below our app" : "another's app"}`, async () => {
        const before = await everything();
        const wanted: Record<string, string> = { ...ids, ...(own && { appId: ours.app._id, channel: "fax" }) };
        const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => wanted[name] ?? "");
        const isUnnamed = !path.includes("{"); // then the body or the query names the app
        const query = method === "GET" && isUnnamed ? `?app_id=${theirs.app._id}` : "";
        const body = isUnnamed ? { app_id: theirs.app._id } : {};
        const reply = await site.api.call(method, filled + query, {
          token: ours.token,
          ...(form === undefined ? ["POST", "PATCH"].includes(method) && { body } : formOf({})),
        });
        expect([reply.status, reply.body.error.code]).to.deep.equal([404, "HS_NOT_FOUND"]);
        expect(await everything()).to.deep.equal(before);
      });
    }
  }

  it("has something of theirs for every parameter of a path", () => {
    const names = keyed.flatMap(({ path }) => Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name));
    expect(Object.keys(ids)).to.include.members([...new Set(names)]);
  });

  it("covers every operation that needs a key", () => {
    expect(keyed).to.have.length.above(30);
  });

  it("reaches nobody of another tenant by subscription id", async () => {
    const target = { include_subscription_ids: [ids["subscriptionId"]] };
    const body = { app_id: ours.app._id, target, contents: { en: "x" } };
    const reply = await site.api.call("POST", "/v1/notifications", { token: ours.token, body });
    expect([reply.status, reply.body.recipients_estimate]).to.deep.equal([202, 0]);
    expect(reply.body["missing"]).to.deep.equal({ subscription_ids: [ids["subscriptionId"]], aliases: {} });
  });

  it("keeps one idempotency key for each app", async () => {
    const send = (tenant: typeof ours) =>
      site.api.call("POST", "/v1/notifications", {
        token: tenant.token,
        body: { app_id: tenant.app._id, target: { all: true }, contents: { en: "x" }, idempotency_key: "shared" },
      });
    const [a, b] = [await send(ours), await send(theirs)];
    expect(a.body.id).to.not.equal(b.body.id);
    expect(b.headers.get("Idempotent-Replayed")).to.equal(null);
  });
});
