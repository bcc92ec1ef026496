import { expect } from "chai";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import type { TenantRow } from "#core/storage/tenants/tenants.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation } from "../support/harness.ts";
import { apnsKey, ios, manifests, rsaKey, textOf } from "../support/manifests.ts";

describe("operator: what goes wrong is reported and heals", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;

  const rows = <Row extends { _id: string }>(name: string) => herald.db.collection<Row>(name);
  const messageOf = async (object: Parameters<Installation["get"]>[0]): Promise<string> =>
    (await herald.conditionOf(object, "Ready"))?.message ?? "";

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
    await herald.start({ settings: { resyncSeconds: 2 } });
    await herald.apply(make.plan());
    await herald.apply(make.tenant());
    await herald.ready(make.tenant());
  });
  after(() => herald.close());

  describe("a bad Secret", () => {
    const faults = [
      {
        it: "is missing",
        secret: null,
        reason: "SecretNotFound",
        says: "spec.channels.ios: Secret ios does not exist; it has to have private_key",
      },
      { it: "has other keys", secret: { key: "x" }, reason: "SecretKeyMissing", says: "has no value for private_key" },
      { it: "is empty", secret: { private_key: "" }, reason: "SecretKeyMissing", says: "has no value for private_key" },
      {
        it: "is garbage",
        secret: { private_key: "garbage-4711" },
        reason: "SecretInvalid",
        says: "not a private key in PEM",
      },
      {
        it: "is another kind of key",
        secret: { private_key: rsaKey() },
        reason: "SecretInvalid",
        says: "not an EC key",
      },
    ];
    for (const { it: name, secret, reason, says } of faults) {
      it(`that ${name} makes the app not ready, and it heals when the Secret is mended`, async () => {
        const app = make.app({}, `shop-${reason.toLowerCase()}-${name.length}`);
        await herald.remove(make.iosSecret());
        if (secret !== null) await herald.apply(make.secret("ios", secret));
        await herald.apply(app);
        await herald.ready(app, "False", reason);
        expect(await messageOf(app))
          .to.contain(says)
          .and.not.to.contain("4711");
        expect(await rows("apps").countDocuments({ name: app.metadata.name })).to.equal(0);
        await herald.remove(make.iosSecret());
        await herald.apply(make.iosSecret());
        await herald.ready(app);
        await herald.remove(app);
        await herald.gone(app);
      });
    }

    it("that comes later leaves the credentials that worked", async () => {
      await herald.apply(make.iosSecret());
      await herald.apply(make.app());
      const { status } = await herald.ready(make.app());
      const before = await rows<AppRow>("apps").findOne({ _id: status?.id ?? "" });
      await herald.apply(make.iosSecret("garbage"));
      await herald.ready(make.app(), "False", "SecretInvalid");
      expect(await rows<AppRow>("apps").findOne({ _id: status?.id ?? "" })).to.deep.equal(before);
      await herald.apply(make.iosSecret());
      await herald.ready(make.app());
    });
  });

  describe("what was changed behind a resource's back", () => {
    it("is repaired in the document", async () => {
      await rows("plans").updateOne({ _id: `${herald.id}-plan` }, { $set: { api_rps: 9_999, features: [] } });
      await until(
        async () => (await rows<PlanRow>("plans").findOne({ _id: `${herald.id}-plan` }))?.api_rps === 1_000,
        10_000,
      );
      expect((await rows<PlanRow>("plans").findOne({ _id: `${herald.id}-plan` }))?.features).to.deep.equal([
        "live_activities",
        "webhooks",
      ]);
    });

    it("is made again when documents were deleted, under the same ids", async () => {
      const names = ["plans", "tenants", "apps"];
      const ids = () =>
        Promise.all(names.map(async (name) => (await rows(name).find().toArray()).map(({ _id }) => _id)));
      const before = await ids();
      for (const name of names) await rows(name).deleteMany({});
      await until(async () => JSON.stringify(await ids()) === JSON.stringify(before), 25_000);
    });

    it("is made again when the plan's stream was deleted", async () => {
      const stream = `${herald.id}-work-${herald.id}-plan`;
      await herald.nats.jsm.streams.delete(stream);
      await until(
        () =>
          herald.nats.jsm.consumers.info(stream, "deliver").then(
            () => true,
            () => false,
          ),
        10_000,
      );
    });

    it("is repaired when a key's hashes were emptied: the token in the Secret works on", async () => {
      await herald.apply(make.apiKey());
      const { status } = await herald.ready(make.apiKey());
      const find = () => rows<ApiKeyRow>("api_keys").findOne({ _id: status?.id ?? "" });
      const before = (await find())?.hashes;
      const token = textOf(await herald.get(make.secret("backend-connection", {})), "token");
      await rows<ApiKeyRow>("api_keys").updateOne({ _id: status?.id ?? "" }, { $set: { hashes: [] } });
      await until(async () => (await find())?.hashes.length === 1, 25_000);
      expect((await find())?.hashes).to.deep.equal(before);
      expect(textOf(await herald.get(make.secret("backend-connection", {})), "token")).to.equal(token);
    });
  });

  describe("a namespace", () => {
    it("that no tenant owns has apps that are not ready, until one does", async () => {
      const other = manifests(herald, `${herald.id}-b`);
      await herald.apply(other.namespace);
      await herald.apply(other.secret("ios", { private_key: apnsKey() }));
      await herald.apply(other.app());
      await herald.ready(other.app(), "False", "TenantNotFound");
      await herald.patch(make.tenant(), { spec: { namespaces: [`${herald.id}-a`, `${herald.id}-b`] } });
      await herald.ready(other.app(), "False", "NameTaken"); // the tenant's other namespace has a shop already
      await herald.patch(other.app(), { spec: { displayName: "Other shop" } });
      await herald.ready(other.app());
      await herald.remove(other.app());
      await herald.gone(other.app());
    });

    const rivalOf = (...letters: string[]) =>
      make.tenant({ namespaces: letters.map((letter) => `${herald.id}-${letter}`) }, `${herald.id}-rival`);
    const rivalRow = () => rows<TenantRow>("tenants").findOne({ "managed.name": `${herald.id}-rival` });

    it("that another tenant has makes no record of the one that claims it too, until it lets go", async () => {
      const rival = rivalOf("b", "c");
      await herald.apply(rival);
      const { status } = await herald.ready(rival, "False", "NamespaceTaken");
      expect(await messageOf(rival)).to.equal(`namespace ${herald.id}-b belongs to tenant ${herald.id}-tenant`);
      expect(status?.id).to.equal(undefined);
      expect(await rivalRow()).to.equal(null);
      await herald.patch(make.tenant(), { spec: { namespaces: [`${herald.id}-a`] } });
      await herald.ready(rival);
      expect((await rivalRow())?.namespaces).to.deep.equal([`${herald.id}-b`, `${herald.id}-c`]);
    });

    it("that another tenant has takes nothing from one that claims it later, and what else it says counts", async () => {
      await herald.patch(rivalOf(), { spec: { namespaces: [`${herald.id}-a`, `${herald.id}-b`], suspended: true } });
      await herald.ready(rivalOf(), "False", "NamespaceTaken");
      expect(await rivalRow()).to.deep.include({ namespaces: [`${herald.id}-b`], suspended: true });
    });
  });

  describe("deletion", () => {
    it("leaves a Secret alone that is not its own", async () => {
      await herald.apply(make.secret("precious-connection", { token: "mine" }));
      const key = make.apiKey({}, "precious");
      await herald.apply(key);
      await herald.ready(key, "False", "SecretConflict");
      expect(textOf(await herald.get(make.secret("precious-connection", {})), "token")).to.equal("mine");
      await herald.remove(key);
      await herald.gone(key);
      expect(await herald.get(make.secret("precious-connection", {}))).not.to.equal(null);
    });

    it("retains the document of a resource that asks for it", async () => {
      const app = make.app({ displayName: "Kept", deletionPolicy: "Retain", channels: { ios } }, "kept");
      await herald.apply(app);
      const { status } = await herald.ready(app);
      await herald.remove(app);
      await herald.gone(app);
      const row = await rows<AppRow>("apps").findOne({ _id: status?.id ?? "" });
      expect(row).to.deep.include({ name: "Kept", managed: null });
    });

    it("deletes an app although its Secret went first", async () => {
      const app = make.app({ displayName: "Bare" }, "bare");
      await herald.apply(app);
      await herald.ready(app);
      await herald.remove(make.iosSecret());
      await herald.ready(app, "False", "SecretNotFound");
      await herald.remove(app);
      await herald.gone(app);
      expect(await rows("apps").countDocuments({ name: "Bare" })).to.equal(0);
    });

    it("keeps a plan while a tenant is on it, and says who", async () => {
      await herald.remove(make.plan());
      await until(async () => (await herald.conditionOf(make.plan(), "Ready"))?.reason === "InUse", 25_000);
      expect(await messageOf(make.plan())).to.contain(`${herald.id}-tenant`);
      expect(await rows("plans").countDocuments({ _id: `${herald.id}-plan` })).to.equal(1);
    });
  });
});
