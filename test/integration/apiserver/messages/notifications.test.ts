import { expect } from "chai";
import { derivedId, newId, ulid } from "#core/domain/ids.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { type MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aSubscription, aUser, seed, seedTenant } from "../../../support/rows/fixtures.ts";

describe("notifications", () => {
  const { site, tenant } = useSharedSite();

  const rows = () => collectionOf<MessageRow>(site.db, messageCollection);
  const post = (body: object, headers: Record<string, string> = {}) =>
    site.api.call("POST", "/v1/notifications", {
      token: tenant.token,
      headers,
      body: { app_id: tenant.app._id, contents: { en: "Hello" }, ...body },
    });
  const toAll = { target: { all: true } };

  it("keeps what was sent, in its groups, so that it can be sent again", async () => {
    const sent = {
      name: "Welcome",
      labels: ["a", "b"],
      category: "news",
      target: { all: true, channels: ["email", "ios_push"] },
      headings: { en: "Hi", de: "Hallo" },
      data: { "order.id": "5", $x: "y" },
      email_subject: "S",
      email_body: "<p>B</p>",
      collapse_id: "c",
      priority: 5,
      ttl: 60,
    };
    const { body, status } = await post(sent);
    expect(status).to.equal(202);
    const shown = await site.api.call("GET", `/v1/notifications/${body.id}`, { token: tenant.token });
    expect(shown.body).to.deep.include({
      status: "queued",
      source: "api",
      name: "Welcome",
      labels: ["a", "b"],
      category: "news",
      target: sent.target,
      content: {
        contents: { en: "Hello" },
        headings: sent.headings,
        data: sent.data,
        email_subject: "S",
        email_body: "<p>B</p>",
      },
      options: { collapse_id: "c", priority: 5, ttl: 60 },
      requested_by: { type: "api_key", id: tenant.key._id },
      scheduled_for: null,
    });
    expect((await rows().findOne({ _id: body.id }))?.channels).to.deep.equal(["email", "ios_push"]);
  });

  it("counts explicit recipients once each and names the ids that matched nothing", async () => {
    const ids = { tenant_id: tenant.tenant._id, app_id: tenant.app._id };
    const anna = aUser({ ...ids, external_id: "anna", aliases: { crm: "7" } });
    const phone = aSubscription({ ...ids, user_id: anna._id });
    const browserless = aSubscription({ ...ids, user_id: anna._id, status: "unsubscribed" });
    const other = aSubscription(ids);
    await seed(site.db, { users: [anna], subscriptions: [phone, browserless, other] });
    const unknown = newId("subscription", new Date());
    const { body } = await post({
      target: {
        include_external_ids: ["anna", "nobody"],
        include_aliases: { crm: ["7", "8"] },
        include_subscription_ids: [phone._id, other._id, unknown],
      },
    });
    expect(body).to.deep.include({ recipients_estimate: 2, external_id_missing: ["nobody"] });
    expect(body.missing).to.deep.equal({ subscription_ids: [unknown], aliases: { crm: ["8"] } });
  });

  it("accepts a target that reaches nobody", async () => {
    const { status, body } = await post({ target: { include_external_ids: [] } });
    expect([status, body.recipients_estimate]).to.deep.equal([202, 0]);
  });

  it("refuses an alias label that no user has", async () => {
    const { status, body } = await post({ target: { include_aliases: { crn: ["7"] } } });
    expect([status, body.error.details["field"]]).to.deep.equal([400, "target.include_aliases.crn"]);
  });

  it("gives the first reply again for a used key, and says when the body was another", async () => {
    const first = await post({ ...toAll, name: "one" }, { "Idempotency-Key": "k1" });
    const again = await post({ ...toAll, name: "one", idempotency_key: "k1" });
    const other = await post({ ...toAll, name: "two" }, { "Idempotency-Key": "k1" });
    expect([again.body, other.body]).to.deep.equal([first.body, first.body]);
    expect(first.headers.get("Idempotent-Replayed")).to.equal(null);
    expect([again, other].map(({ headers }) => headers.get("Idempotent-Replayed"))).to.deep.equal(["true", "true"]);
    expect([again, other].map(({ headers }) => headers.get("Idempotent-Mismatch"))).to.deep.equal([null, "true"]);
    expect(await rows().countDocuments({ idempotency_key: "k1" })).to.equal(1);
  });

  it("does not take the key of another operation for its own", async () => {
    const first = await post(toAll, { "Idempotency-Key": "shared" });
    const row = await rows().findOne({ _id: first.body.id });
    if (row === null) throw new Error("it was accepted");
    await rows().updateOne({ _id: row._id }, { $set: { operation: "startLiveActivity" } });
    const second = await post(toAll, { "Idempotency-Key": "shared" });
    expect(second.headers.get("Idempotent-Replayed")).to.equal(null);
    expect(second.body.id).to.not.equal(row._id);
    expect((await post(toAll, { "Idempotency-Key": "shared" })).body.id).to.equal(second.body.id);
    const list = `/v1/notifications?app_id=${tenant.app._id}&idempotency_key=shared`;
    const shown = await site.api.call("GET", list, { token: tenant.token });
    expect(shown.body.data.map(({ id }) => id)).to.deep.equal([second.body.id, row._id]);
  });

  it("answers 422 for a used key with another body when the app asks for it", async () => {
    const strict = await seedTenant(site.db, { app: { idempotency_mismatch: "reject" } });
    const send = (name: string) =>
      site.api.call("POST", "/v1/notifications", {
        token: strict.token,
        body: { app_id: strict.app._id, contents: { en: "x" }, idempotency_key: "k", name, ...toAll },
      });
    const first = await send("one");
    const second = await send("two");
    expect([second.status, second.body.error.code]).to.deep.equal([422, "HS_IDEMPOTENCY_KEY_REUSED"]);
    expect(second.body.error.details).to.deep.equal({ key: "k", message_id: first.body.id });
  });

  it("forgets a key after 24 hours", async () => {
    const first = await post({ ...toAll, idempotency_key: "old" });
    await rows().updateOne({ _id: first.body.id }, { $set: { created_at: new Date(Date.now() - 86_500_000) } });
    const second = await post({ ...toAll, idempotency_key: "old" });
    expect(second.body.id).to.not.equal(first.body.id);
    expect(second.headers.get("Idempotent-Replayed")).to.equal(null);
  });

  it("is due at its time when it has one, else within seconds", async () => {
    const at = new Date(Date.now() + 3_600_000);
    const later = await post({ ...toAll, send_after: at.toISOString() });
    const now = await post(toAll);
    const [waiting, ready] = await Promise.all([later, now].map(({ body }) => rows().findOne({ _id: body.id })));
    expect(waiting).to.deep.include({ scheduled_for: at, due_at: at, status: "queued" });
    expect(ready?.scheduled_for).to.equal(null);
    expect(ready?.due_at?.getTime()).to.be.within(Date.now(), Date.now() + 10_000);
  });

  it("refuses a channel without an account when it is asked for, and leaves it out when it is not", async () => {
    const blank = await seedTenant(site.db);
    await site.db.collection("apps").updateOne({ _id: blank.app._id as never }, { $unset: { "channels.email": "" } });
    const send = (target: object, content: object = {}) =>
      site.api.call("POST", "/v1/notifications", {
        token: blank.token,
        body: { app_id: blank.app._id, target, email_subject: "s", email_body: "b", ...content },
      });
    const asked = await send({ all: true, channels: ["email"] });
    expect([asked.status, asked.body.error.code]).to.deep.equal([409, "HS_CHANNEL_NOT_CONFIGURED"]);
    expect(asked.body.error.details).to.deep.equal({ channel: "email" });
    expect((await send({ all: true })).status).to.equal(409);
    const both = await send({ all: true }, { contents: { en: "x" } });
    expect(both.status).to.equal(202);
    expect((await rows().findOne({ _id: both.body.id }))?.channels).to.not.include("email");
  });

  it("cancels what has not begun, and says so twice", async () => {
    const { body } = await post({ ...toAll, send_after: new Date(Date.now() + 3_600_000).toISOString() });
    const path = `/v1/notifications/${body.id}`;
    const first = await site.api.call("DELETE", path, { token: tenant.token });
    const second = await site.api.call("DELETE", path, { token: tenant.token });
    expect(first.body).to.deep.include({ status: "cancelled" });
    expect(second.body).to.deep.equal(first.body);
  });

  it("does not cancel what is being sent, has ended, or is being taken up", async () => {
    for (const change of [
      { status: "processing" },
      { status: "completed" },
      { status: "failed" },
      { lease: { holder: "d1", until: new Date(Date.now() + 30_000) } },
    ]) {
      const { body } = await post(toAll);
      await rows().updateOne({ _id: body.id }, { $set: change as Partial<MessageRow> });
      const reply = await site.api.call("DELETE", `/v1/notifications/${body.id}`, { token: tenant.token });
      expect([reply.status, reply.body.error.code]).to.deep.equal([409, "HS_CONFLICT"]);
      expect(reply.body.error.details).to.deep.equal({ status: change.status ?? "queued" });
    }
  });

  it("lists by label, status and category, newest first", async () => {
    const fresh = await seedTenant(site.db);
    const sent: string[] = [];
    for (const [label, category] of [
      ["x", "news"],
      ["y", "news"],
      ["x", "offers"],
    ]) {
      const { body } = await site.api.call("POST", "/v1/notifications", {
        token: fresh.token,
        body: { app_id: fresh.app._id, contents: { en: "x" }, labels: [label], category, ...toAll },
      });
      sent.push(body.id);
    }
    const list = async (query: string) => {
      const path = `/v1/notifications?app_id=${fresh.app._id}&${query}`;
      return (await site.api.call("GET", path, { token: fresh.token })).body.data.map((one) => one.id);
    };
    expect(await list("")).to.deep.equal(sent.toReversed());
    expect(await list("sort=created_at")).to.deep.equal(sent);
    expect(await list("label=x")).to.deep.equal([sent[2], sent[0]]);
    expect(await list("category=news&status=queued")).to.deep.equal([sent[1], sent[0]]);
    expect(await list("status=completed")).to.deep.equal([]);
    expect(await list("source=api&kind=test")).to.deep.equal([]);
    expect(await list("kind=api&limit=1")).to.deep.equal([sent[2]]);
    const madeAt = async (id = "") => (await rows().findOne({ _id: id }))?.created_at.toISOString();
    expect(await list(`from=${await madeAt(sent[1])}`)).to.deep.equal([sent[2], sent[1]]);
    expect(await list(`to=${await madeAt(sent[1])}&sort=created_at`)).to.deep.equal([sent[0], sent[1]]);
    expect(await list(`from=${await madeAt(sent[1])}&to=${await madeAt(sent[1])}`)).to.deep.equal([sent[1]]);
    expect(await list("from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59.999Z")).to.have.length(3);
    expect(await list("to=1969-12-31T23:59:59Z")).to.deep.equal([]);
  });

  it("lists deliveries with every member, filtered and in both orders", async () => {
    const { body } = await post(toAll);
    const messageId: string = body.id;
    const at = new Date("2026-05-01T10:00:00Z");
    const made = [1, 2, 3].map(
      (n): DeliveryRow => ({
        _id: derivedId("delivery", messageId, String(n)),
        message_id: messageId,
        tenant_id: tenant.tenant._id,
        app_id: tenant.app._id,
        subscription_id: `sub_${n}`,
        user_id: "usr_1",
        channel: n === 3 ? "email" : "ios_push",
        address_masked: "•••12345678",
        status: n === 2 ? "failed" : "sent",
        position: ulid(new Date(at.getTime() + n)),
        ...(n === 2 && { error_code: "TOKEN_UNREGISTERED", provider_code: "Unregistered", failed_at: at }),
        provider: "apns",
        ...(n === 3 && { uncertain: true as const }),
        attempts: 1,
        created_at: new Date(at.getTime() + n),
        updated_at: at,
      }),
    );
    await collectionOf<DeliveryRow>(site.db, deliveryCollection).insertMany(made);
    const path = `/v1/notifications/${messageId}/deliveries`;
    const list = async (query: string) =>
      (await site.api.call("GET", `${path}?${query}`, { token: tenant.token })).body.data;
    const ids = async (query: string) => (await list(query)).map((one) => one.subscription_id);
    for (const [query, found] of Object.entries({
      "": [1, 2, 3],
      "sort=-created_at": [3, 2, 1],
      "status=failed": [2],
      "error_code=TOKEN_UNREGISTERED": [2],
      "channel=email": [3],
      "channel=sms": [],
      "variant_id=v": [],
      "uncertain=true": [3],
      "uncertain=false": [1, 2],
      [`from=${made[1]?.created_at.toISOString()}`]: [2, 3],
    }))
      expect(await ids(query), query).to.deep.equal(found.map((n) => `sub_${n}`));
    expect((await list("")).map(({ uncertain }) => uncertain)).to.deep.equal([false, false, true]);
    expect((await list("status=failed"))[0]).to.deep.include({ provider_code: "Unregistered", opened_at: null });
  });

  it("refuses a message whose month is used up, stores nothing and keeps the key free", async () => {
    const small = await seedTenant(site.db, { plan: { _id: "tight", messages_per_month: 3 } });
    const ids = { tenant_id: small.tenant._id, app_id: small.app._id };
    await seed(site.db, { subscriptions: [aSubscription(ids), aSubscription(ids)] });
    const subscriptions = await site.db.collection("subscriptions").find({ app_id: small.app._id }).toArray();
    const send = (key: string) =>
      site.api.call("POST", "/v1/notifications", {
        token: small.token,
        headers: { "Idempotency-Key": key },
        body: {
          app_id: small.app._id,
          contents: { en: "x" },
          target: { include_subscription_ids: subscriptions.map(({ _id }) => String(_id)) },
        },
      });
    const [first, second] = [await send("a"), await send("b")];
    expect([first.status, second.status]).to.deep.equal([202, 429]);
    const { resets_at: resetsAt, retry_after_seconds: seconds, ...exceeded } = second.body.error.details;
    expect(second.body.error.code).to.equal("HS_QUOTA_EXCEEDED");
    expect(exceeded).to.deep.equal({ metric: "messages_per_month", limit: 3, used: 2, needed: 2 });
    expect(resetsAt).to.match(/-01T00:00:00\.000Z$/);
    expect(seconds).to.be.within(1, 31 * 86_400);
    for (const name of ["Retry-After", "X-RateLimit-Reset"]) expect(second.headers.get(name)).to.equal(String(seconds));
    expect((await send("a")).status).to.equal(202); // a replay costs nothing
    expect(await rows().countDocuments({ app_id: small.app._id })).to.equal(1);
    await site.api.call("DELETE", `/v1/notifications/${first.body.id}`, { token: small.token });
    expect((await send("b")).status).to.equal(202); // what was cancelled has given its part back
  });
});
