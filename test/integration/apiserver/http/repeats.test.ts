import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { systemClock } from "#core/domain/clock.ts";
import { NotFound, Unavailable } from "#core/errors.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import { type ReplyRow, replies } from "#core/storage/service/replies.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { once } from "../../../../apiserver/http/once.ts";
import { type Attempt } from "../../../../apiserver/http/route.ts";
import type { Reply } from "../../../support/api/api.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { anExport } from "../../../support/rows/exports.ts";
import { anApp, seed, seedTenant, testKeyRing } from "../../../support/rows/fixtures.ts";
import { anEnvelope, aWebhookDelivery } from "../../../support/rows/webhook-deliveries.ts";

const dayMs = 86_400_000;
const aToken = () => randomUUID().replaceAll("-", "").repeat(2);
const anEndpoint = { url: "https://hooks.example.com/in", events: ["delivery.sent"] };
const schema = { type: "object", properties: { status: { type: "string" } } };

describe("a POST that is made again with its idempotency key", () => {
  const { site, tenant } = useSharedSite();

  type PostRequest = { path: string; body?: object; token?: string };
  const post = ({ path, body, token = tenant.token }: PostRequest, key?: string): Promise<Reply> =>
    site.api.call("POST", path, {
      token,
      ...(body !== undefined && { body }),
      ...(key !== undefined && { headers: { "Idempotency-Key": key } }),
    });
  const kept = () => site.db.collection<ReplyRow>("idempotent_replies");
  const markers = ({ headers }: Reply) => [headers.get("Idempotent-Replayed"), headers.get("Idempotent-Mismatch")];
  const of = () => `/v1/apps/${tenant.app._id}`;
  const webhook = async (): Promise<string> => (await post({ path: `${of()}/webhooks`, body: anEndpoint })).body.id;
  const delivery = async (): Promise<string> => {
    const event = anEnvelope({ id: `evt_${randomUUID()}`, app_id: tenant.app._id });
    const row = aWebhookDelivery(event, { tenant_id: tenant.tenant._id, endpoint_id: await webhook() });
    await site.db.collection<WebhookDeliveryRow>("webhook_deliveries").insertOne(row);
    return row._id;
  };
  const notification = async (): Promise<string> => {
    const body = { app_id: tenant.app._id, target: { all: true }, contents: { en: "x" } };
    return (await post({ path: "/v1/notifications", body })).body.id;
  };
  const pendingExport = async (): Promise<string> => {
    const row = anExport({ tenant_id: tenant.tenant._id, app_id: tenant.app._id });
    await site.db.collection<ExportRow>("exports").insertOne(row);
    return row._id;
  };
  const count = (collection: string, filter: object = {}) =>
    site.db.collection(collection).countDocuments({ app_id: tenant.app._id, ...filter });

  const since = new Date(Date.now() - 3_600_000).toISOString();
  const operations: {
    it: string;
    ask: () => Promise<PostRequest> | PostRequest;
    /** How much there is of what it makes. */
    made: () => Promise<number>;
  }[] = [
    {
      it: "a webhook",
      ask: () => ({ path: `${of()}/webhooks`, body: anEndpoint }),
      made: () => count("webhooks"),
    },
    {
      it: "a live activity type",
      ask: () => ({
        path: `${of()}/live-activities/types`,
        body: { name: `T${randomUUID().slice(0, 8)}`, content_state_schema: schema },
      }),
      made: () => count("live_activity_types"),
    },
    {
      it: "a user",
      ask: () => ({
        path: `${of()}/users`,
        body: { external_id: randomUUID(), subscriptions: [{ channel: "ios_push", token: aToken() }] },
      }),
      made: () => count("users"),
    },
    {
      it: "a subscription",
      ask: async () => {
        const { body } = await post({ path: `${of()}/users`, body: { external_id: randomUUID() } });
        const path = `${of()}/users/by/user_id/${body.id}/subscriptions`;
        return { path, body: { channel: "ios_push", token: aToken() } };
      },
      made: () => count("subscriptions"),
    },
    {
      it: "custom events without an id",
      ask: () => ({ path: `${of()}/events`, body: { events: [{ name: "visit" }, { name: "visit" }] } }),
      made: () => site.db.collection("event_batches").countDocuments({ claimed_at: { $gt: new Date(0) } }),
    },
    {
      it: "a suppression",
      ask: () => ({ path: `${of()}/suppressions`, body: { external_id: randomUUID() } }),
      made: () => count("suppressions"),
    },
    {
      it: "a list of suppressions",
      ask: () => ({
        path: `${of()}/suppressions`,
        body: { entries: [1, 2].map(() => ({ external_id: randomUUID() })) },
      }),
      made: () => count("suppressions"),
    },
    {
      it: "an export",
      ask: () => ({ path: `${of()}/exports`, body: { type: "users" } }),
      made: () => count("exports"),
    },
    {
      it: "the history of a notification",
      ask: async () => ({ path: `/v1/notifications/${await notification()}/history`, body: {} }),
      made: () => count("exports"),
    },
    {
      it: "the events of a notification",
      ask: async () => ({ path: `/v1/notifications/${await notification()}/export_events`, body: {} }),
      made: () => count("exports"),
    },
    {
      it: "the end of an export",
      ask: async () => ({ path: `${of()}/exports/${await pendingExport()}/cancel` }),
      made: () => count("exports", { status: "failed" }),
    },
    {
      it: "a delivery that is sent again",
      ask: async () => ({ path: `${of()}/webhooks/deliveries/${await delivery()}/replay` }),
      made: () => count("webhook_deliveries", { replay_of: { $ne: null } }),
    },
    {
      it: "a recovery",
      ask: async () => ({ path: `${of()}/webhooks/${await webhook()}/recover`, body: { since } }),
      made: () => count("webhooks", { recovery: { $ne: null } }),
    },
    {
      it: "the replay of a window",
      ask: async () => ({ path: `${of()}/webhooks/${await webhook()}/replay`, body: { since } }),
      made: () => count("webhooks", { recovery: { $ne: null } }),
    },
    {
      it: "a new secret",
      ask: async () => ({ path: `${of()}/webhooks/${await webhook()}/rotate-secret` }),
      made: async () => {
        const rows = await site.db.collection<WebhookRow>("webhooks").find({ app_id: tenant.app._id }).toArray();
        return new Set(rows.flatMap(({ previous_secret }) => previous_secret?.secret.data ?? [])).size;
      },
    },
  ];

  for (const { it: name, ask, made } of operations) {
    it(`makes ${name} once`, async () => {
      const [asked, key] = [await ask(), randomUUID()];
      const before = await made();
      const first = await post(asked, key);
      expect([first.status < 300, markers(first)], first.text).to.deep.equal([true, [null, null]]);
      const madeFirst = (await made()) - before;
      expect(madeFirst).to.be.greaterThan(0);
      const again = await post(asked, key);
      expect([again.status, again.body, markers(again)]).to.deep.equal([first.status, first.body, ["true", null]]);
      expect((await made()) - before).to.equal(madeFirst);
    });

    it(`makes ${name} once though the first attempt was cut short before it could tell`, async () => {
      const [asked, key] = [await ask(), randomUUID()];
      const before = await made();
      const first = await post(asked, key);
      const madeFirst = (await made()) - before;
      const [newest] = await kept().find().sort({ created_at: -1 }).limit(1).toArray();
      const cut = { reply: null, held_until: new Date(Date.now() + 60_000) };
      await kept().updateOne({ _id: newest?._id ?? "" }, { $set: cut });
      const busy = await post(asked, key);
      expect([busy.status, busy.body.error.code]).to.deep.equal([409, "HS_IDEMPOTENCY_IN_PROGRESS"]);
      expect(busy.headers.get("Retry-After")).to.equal("1");
      await kept().updateOne({ _id: newest?._id ?? "" }, { $set: { held_until: new Date(Date.now() - 1) } });
      const again = await post(asked, key);
      expect(again.status, again.text).to.be.lessThan(300);
      expect([again.body.id, again.body["secret"]]).to.deep.equal([first.body.id, first.body["secret"]]);
      expect((await made()) - before).to.equal(madeFirst);
    });
  }

  it("is made once, however often it comes at the same moment", async () => {
    const [asked, key] = [{ path: `${of()}/webhooks`, body: anEndpoint }, randomUUID()];
    const before = await count("webhooks");
    const all = await Promise.all(Array.from({ length: 10 }, () => post(asked, key)));
    for (const { status } of all) expect(status).to.be.oneOf([201, 409]);
    expect((await count("webhooks")) - before).to.equal(1);
  });

  it("says that its body is another, or is refused where the app wants that", async () => {
    const [path, key] = [`${of()}/webhooks`, randomUUID()];
    const first = await post({ path, body: anEndpoint }, key);
    const other = { ...anEndpoint, description: "another" };
    const again = await post({ path, body: other }, key);
    expect([again.body, markers(again)]).to.deep.equal([first.body, ["true", "true"]]);
    const strict = await seedTenant(site.db, { app: { idempotency_mismatch: "reject" } });
    const ofStrict = { path: `/v1/apps/${strict.app._id}/webhooks`, token: strict.token };
    await post({ ...ofStrict, body: anEndpoint }, key);
    const refused = await post({ ...ofStrict, body: other }, key);
    expect([refused.status, refused.body.error.code]).to.deep.equal([422, "HS_IDEMPOTENCY_KEY_REUSED"]);
    expect(refused.body.error.details).to.deep.equal({ key });
  });

  it("is another request in another app, of another thing, or by another operation", async () => {
    const key = randomUUID();
    const other = anApp({ tenant_id: tenant.tenant._id });
    await seed(site.db, { apps: [other] });
    const [one, two] = [await webhook(), await webhook()];
    const all = [
      await post({ path: `${of()}/webhooks`, body: anEndpoint }, key),
      await post({ path: `/v1/apps/${other._id}/webhooks`, body: anEndpoint }, key),
      await post({ path: `${of()}/webhooks/${one}/rotate-secret` }, key),
      await post({ path: `${of()}/webhooks/${two}/rotate-secret` }, key),
      await post(
        { path: "/v1/notifications", body: { app_id: tenant.app._id, target: { all: true }, contents: { en: "x" } } },
        key,
      ),
    ];
    expect(all.map(markers)).to.deep.equal(all.map(() => [null, null]));
    expect(new Set(all.map(({ body }) => body["secret"] ?? body.id)).size).to.equal(all.length);
  });

  it("uses no key up when it is refused", async () => {
    const [path, key] = [`${of()}/live-activities/types`, randomUUID()];
    const body = { name: "Refused", content_state_schema: schema };
    expect((await post({ path, body: { ...body, nonsense: 1 } }, key)).status).to.equal(400);
    await post({ path, body });
    expect((await post({ path, body }, key)).body.error.code).to.equal("HS_ALREADY_EXISTS");
    expect((await post({ path, body: { ...body, name: "Accepted" } }, key)).status).to.equal(201);
    for (const malformed of ["a key", ""]) {
      const refused = await post({ path, body }, malformed);
      expect(refused.body.error.details["field"], malformed).to.equal("header.Idempotency-Key");
    }
  });

  it("is another request after 24 hours", async () => {
    const [asked, key] = [{ path: `${of()}/webhooks`, body: anEndpoint }, randomUUID()];
    const first = await post(asked, key);
    await kept().updateMany({}, { $set: { created_at: new Date(Date.now() - dayMs) } });
    const second = await post(asked, key);
    expect([second.status, markers(second)]).to.deep.equal([201, [null, null]]);
    expect(second.body.id).not.to.equal(first.body.id);
    expect((await post(asked, key)).body).to.deep.equal(second.body);
  });

  it("gets its reply also when the plan has no room for another", async () => {
    const full = await seedTenant(site.db, { plan: { _id: "one-endpoint", webhook_endpoints: 1 } });
    const asked = { path: `/v1/apps/${full.app._id}/webhooks`, body: anEndpoint, token: full.token };
    const first = await post(asked, "k");
    expect((await post(asked, "k")).body).to.deep.equal(first.body);
    expect((await post(asked, "other")).status).to.equal(403);
  });

  it("leaves neither a secret nor data of people behind", async () => {
    const key = randomUUID();
    const made = await post({ path: `${of()}/webhooks`, body: anEndpoint }, key);
    const secret = String(made.body["secret"]);
    const user = { path: `${of()}/users`, body: { external_id: `ext-${key}`, tags: { hobby: "secret-hobby" } } };
    const { body } = await post(user, key);
    const left = JSON.stringify(await kept().find({ app_id: tenant.app._id }).toArray());
    expect(left).not.to.include(secret).and.not.include("hobby").and.not.include(`ext-${key}`);
    await site.api.call("DELETE", `${of()}/users/by/user_id/${body.id}`, { token: tenant.token });
    const gone = await post(user, key);
    expect([gone.status, gone.body.error.details]).to.deep.equal([404, { resource: "user" }]);
  });

  it("is gone on with after an attempt of which nobody knows what it changed", async () => {
    const ring = keyRing(testKeyRing);
    const deps = { replies: replies(site.db), leaseMs: 60_000, clock: systemClock, seal: ring.seal, open: ring.open };
    const asked = { app: tenant.app, operation: "makeThing", key: randomUUID(), fingerprint: "f" };
    const ids: string[] = [];
    const fail = async ({ newId }: Attempt): Promise<never> => {
      ids.push(newId("webhook"));
      throw new Unavailable("the database");
    };
    const failed = await once(deps)
      .answer(asked, { status: 201, handle: fail })
      .catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(Unavailable);
    const refuse = () => Promise.reject(new NotFound("webhook")); // the attempt before may have made it all the same
    const refused = await once(deps)
      .answer(asked, { status: 201, handle: refuse })
      .catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(NotFound);
    const made = async ({ newId }: Attempt) => ({ body: { id: newId("webhook") } });
    const never = () => Promise.reject(new Error("it was made"));
    const answer = await once(deps).answer(asked, { status: 201, handle: never, made });
    expect(answer.body).to.deep.equal({ id: ids[0] });
    const other = keyRing(`other:${Buffer.alloc(32, 9).toString("base64")}`);
    const unread = once({ ...deps, open: other.open }).answer(asked, { status: 201, handle: never });
    expect(await unread.catch((error: unknown) => error)).to.be.instanceOf(Unavailable);
  });
});
