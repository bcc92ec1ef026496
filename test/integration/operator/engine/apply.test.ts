import { expect } from "chai";
import { hashOf } from "#core/domain/api-keys/hashes.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest, type Started } from "../support/harness.ts";
import { apnsKey, ios, manifests, serviceAccount, textOf, vapidKey } from "../support/manifests.ts";

const kinds = ["plan", "tenant", "app", "apikey", "webhook", "liveactivitytype"];

describe("operator: resources become documents, streams and Secrets", () => {
  let herald: Installation;
  let started: Started;
  let make: ReturnType<typeof manifests>;

  const rows = <Row extends { _id: string }>(name: string) => herald.db.collection<Row>(name);
  const stored = () => Promise.all(["apps", "api_keys", "webhooks"].map((name) => rows(name).find().toArray()));
  /** Waits until each kind's resource, of which there is one, has been looked at so many times more. */
  const resyncs = async (times: number): Promise<void> => {
    const passes = async () => {
      const { values } = await started.metrics.reconciles.get();
      const of = (kind: string) => values.filter(({ labels }) => labels.controller === kind);
      return kinds.map((kind) => of(kind).reduce((sum, { value }) => sum + value, 0));
    };
    const before = await passes();
    await until(async () => (await passes()).every((count, i) => count >= (before[i] ?? 0) + times), 25_000);
  };
  const idOf = async (object: Manifest): Promise<string> => (await herald.get(object))?.status?.id ?? "";

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
    started = await herald.start({ settings: { resyncSeconds: 1 } });
  });
  after(() => herald.close());

  it("makes a plan's document and its stream", async () => {
    await herald.apply(make.plan({ backlogPerTenant: 7 }));
    const { status } = await herald.ready(make.plan());
    expect(await rows("plans").findOne({ _id: `${herald.id}-plan` })).to.include({
      api_rps: 1_000,
      backlog_per_tenant: 7,
    });
    const { config } = await herald.nats.jsm.streams.info(String(status?.["stream"]));
    expect(config.max_msgs_per_subject).to.equal(7);
    expect(config.subjects).to.include(`${herald.id}.plan.${herald.id}-plan.*`);
  });

  it("makes a tenant's document with its namespaces", async () => {
    await herald.apply(make.tenant({ displayName: "Acme", contact: { email: "owner@acme.example" } }));
    await herald.ready(make.tenant());
    const row = await rows("tenants").findOne({ _id: await idOf(make.tenant()) });
    expect(row).to.deep.include({ name: "Acme", plan: `${herald.id}-plan`, namespaces: [`${herald.id}-a`] });
    expect(row).to.include({ contact_email: "owner@acme.example" });
  });

  it("seals the credentials of every channel that an app names", async () => {
    const pem = apnsKey();
    const vapid = vapidKey();
    await herald.apply(make.iosSecret(pem));
    await herald.apply(make.secret("android", { "service_account.json": serviceAccount() }));
    await herald.apply(make.secret("web", { private_key: vapid }));
    await herald.apply(make.secret("mail", { password: "hunter22" }));
    const mail = { host: "smtp.example", fromAddress: "a@shop.example", username: "u", secretRef: { name: "mail" } };
    const web = { subject: "mailto:ops@shop.example", secretRef: { name: "web" } };
    await herald.apply(make.app({ channels: { ios, android: { secretRef: { name: "android" } }, web, email: mail } }));
    const { status } = await herald.ready(make.app());
    const row = await rows<AppRow>("apps").findOne({ _id: status?.id ?? "" });
    expect(status?.["channels"]).to.equal("android_push,email,ios_push,web_push");
    expect(status?.["webPushPublicKey"]).to.equal(row?.channels.web_push?.public_key);
    expect(row?.channels_revision).to.equal(1);
    const ring = keyRing(herald.settings.keyRing);
    const sealed = row?.channels.ios_push?.private_key ?? { kid: "", data: "" };
    expect(ring.open(sealed, `apps/${row?._id}/ios_push.private_key`)).to.equal(pem.trim());
    expect(JSON.stringify(row)).not.to.contain("hunter22").and.not.to.contain("PRIVATE KEY");
  });

  it("writes a key's token once, into its connection Secret", async () => {
    await herald.apply(make.apiKey());
    await herald.ready(make.apiKey());
    const secret = await herald.get(make.secret("backend-connection", {}));
    const row = await rows<ApiKeyRow>("api_keys").findOne({ _id: await idOf(make.apiKey()) });
    expect(textOf(secret, "token")).to.match(/^hk_[\w-]{43}$/);
    expect(row?.hashes).to.deep.equal([{ hash: hashOf(textOf(secret, "token")), expires_at: null }]);
    expect(textOf(secret, "app_id")).to.equal(await idOf(make.app()));
    expect(textOf(secret, "base_url")).to.equal("http://herald.example");
  });

  it("makes a webhook's document and its signing Secret", async () => {
    await herald.apply(make.webhook());
    const { status } = await herald.ready(make.webhook());
    const row = await rows<WebhookRow>("webhooks").findOne({ _id: status?.id ?? "" });
    const secret = textOf(await herald.get(make.secret("events-signing", {})), "secret");
    expect(row).to.deep.include({ status: "active", url: "https://hooks.example/a", events: ["delivery.sent"] });
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(keyRing(herald.settings.keyRing).open(row!.secret, `webhooks/${row!._id}/secret`)).to.equal(secret);
  });

  it("makes a live activity type's document", async () => {
    await herald.apply(make.activityType());
    const { status } = await herald.ready(make.activityType());
    const row = await rows("live_activity_types").findOne({ _id: status?.id ?? "" });
    expect(row).to.deep.include({ name: "OrderAttributes", attributes_schema: { type: "object", properties: {} } });
  });

  it("changes the channels' revision only when a credential changes", async () => {
    const id = await idOf(make.app());
    const revision = async () => (await rows<AppRow>("apps").findOne({ _id: id }))?.channels_revision;
    await herald.patch(make.app(), { spec: { timeZone: "Asia/Tokyo" } });
    await until(async () => (await rows<AppRow>("apps").findOne({ _id: id }))?.time_zone === "Asia/Tokyo");
    expect(await revision()).to.equal(1);
    await herald.apply(make.iosSecret(apnsKey()));
    await until(async () => (await revision()) === 2);
  });

  it("rotates a key when its annotation gets another value, and lets the former token live for a day", async () => {
    const before = textOf(await herald.get(make.secret("backend-connection", {})), "token");
    await herald.patch(make.apiKey(), { metadata: { annotations: { "herald.dev/rotate": "1" } } });
    const tokenNow = async () => textOf(await herald.get(make.secret("backend-connection", {})), "token");
    await until(async () => (await tokenNow()) !== before, 25_000);
    const id = await idOf(make.apiKey());
    const rowNow = () => rows<ApiKeyRow>("api_keys").findOne({ _id: id });
    await until(async () => (await rowNow())?.hashes[1]?.expires_at instanceof Date); // once the Secret is written
    const row = await rowNow();
    const [current, former, ...others] = row?.hashes ?? [];
    expect(current).to.deep.equal({ hash: hashOf(await tokenNow()), expires_at: null });
    expect(former?.hash).to.equal(hashOf(before));
    expect((former?.expires_at?.getTime() ?? 0) - Date.now()).to.be.within(86_300_000, 86_400_000);
    expect(others).to.deep.equal([]);
  });

  it("makes another token when the connection Secret is deleted, and the former stops at once", async () => {
    const before = textOf(await herald.get(make.secret("backend-connection", {})), "token");
    await herald.remove(make.secret("backend-connection", {}));
    await until(async () => (await herald.get(make.secret("backend-connection", {}))) !== null, 25_000);
    const token = textOf(await herald.get(make.secret("backend-connection", {})), "token");
    const row = await rows<ApiKeyRow>("api_keys").findOne({ _id: await idOf(make.apiKey()) });
    expect(token).not.to.equal(before);
    expect(row?.hashes.map(({ hash }) => hash)).to.deep.equal([hashOf(token)]);
  });

  it("rotates a signing secret and keeps the former as the second signature", async () => {
    const before = textOf(await herald.get(make.secret("events-signing", {})), "secret");
    await herald.patch(make.webhook(), { metadata: { annotations: { "herald.dev/rotate": "1" } } });
    const id = await idOf(make.webhook());
    const row = () => rows<WebhookRow>("webhooks").findOne({ _id: id });
    await until(async () => (await row())?.previous_secret !== null, 25_000);
    const previous = (await row())!.previous_secret!.secret;
    expect(keyRing(herald.settings.keyRing).open(previous, `webhooks/${id}/secret`)).to.equal(before);
  });

  it("writes nothing when nothing differs", async () => {
    const all = [make.plan(), make.tenant(), make.app(), make.apiKey(), make.webhook(), make.activityType()];
    for (const object of all) await herald.ready(object);
    await resyncs(2); // a pass over what was just changed may not have come to its end
    const versions = async () =>
      Promise.all(all.map(async (object) => (await herald.get(object))?.metadata.resourceVersion));
    const [before, rowsBefore] = [await versions(), await stored()];
    await resyncs(2);
    expect(await versions()).to.deep.equal(before);
    expect(await stored()).to.deep.equal(rowsBefore);
  });

  it("removes documents, Secrets and streams with their resources", async () => {
    const id = await idOf(make.webhook());
    const all = [make.webhook(), make.activityType(), make.apiKey(), make.app(), make.tenant(), make.plan()];
    for (const object of all.toReversed()) await herald.remove(object); // owners first: they wait for what they own
    for (const object of all) await herald.gone(object);
    for (const name of ["webhooks", "live_activity_types", "api_keys", "apps", "tenants", "plans"]) {
      expect(await rows(name).countDocuments(), name).to.equal(0);
    }
    expect(await rows("webhooks").findOne({ _id: id })).to.equal(null);
    expect(await rows("removals").countDocuments({ kind: "app" }), "the app's history is left to be removed").to.equal(
      1,
    );
    expect(await herald.get(make.secret("backend-connection", {}))).to.equal(null);
    expect(await herald.get(make.secret("events-signing", {}))).to.equal(null);
    const streams = await herald.nats.jsm.streams.names(`${herald.id}.plan.>`).next();
    expect(streams).to.deep.equal([]);
  });
});
