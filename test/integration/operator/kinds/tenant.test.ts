import { expect } from "chai";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { type Api, startApi } from "../../../support/api/api.ts";
import { announcedMs, until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest } from "../support/harness.ts";
import { manifests, textOf } from "../support/manifests.ts";

describe("operator: a namespace and the tenant that it is of", () => {
  let herald: Installation;
  let api: Api;
  let ours: ReturnType<typeof manifests>;
  let theirs: ReturnType<typeof manifests>;
  let tenants: { ours: Manifest; theirs: Manifest };

  before(async () => {
    herald = await installation();
    [ours, theirs] = [manifests(herald), manifests(herald, `${herald.id}-b`)];
    tenants = { ours: ours.tenant(), theirs: theirs.tenant({}, `${herald.id}-theirs`) };
    for (const { namespace } of [ours, theirs]) await herald.apply(namespace);
    await herald.start({ settings: { resyncSeconds: 1 } });
    api = await startApi(
      herald.servers,
      { name: herald.id, database: herald.db.databaseName },
      { HERALD_KEY_RING: herald.settings.keyRing },
    );
    const all = [ours.plan(), tenants.ours, tenants.theirs, ours.iosSecret(), ours.app()];
    for (const object of all) await herald.apply(object);
    for (const object of all) if (object.kind !== "Secret") await herald.ready(object);
  });
  after(async () => {
    await api?.process.kill();
    await herald?.close();
  });

  const idOf = async (object: Manifest): Promise<string> => (await herald.get(object))?.status?.id ?? "";
  const tokenOf = async (key: Manifest): Promise<string> => {
    await herald.apply(key);
    await herald.ready(key);
    return textOf(await herald.get({ ...ours.secret("", {}), metadata: secretOf(key) }), "token");
  };
  const secretOf = ({ metadata, spec }: Manifest) => ({
    name: (spec as { connectionSecretName: string }).connectionSecretName,
    namespace: metadata.namespace ?? "",
  });
  const types = (app: string) => `/v1/apps/${app}/live-activities/types`;
  const call = (method: string, path: string, token: string, body?: object) =>
    api.call(method, path, { token, ...(body !== undefined && { body }) });
  const schema = { type: "object", properties: {} };

  describe("that names an app of another namespace", () => {
    const kinds: { kind: string; made: () => Manifest; collection: string }[] = [
      { kind: "ApiKey", made: () => theirs.apiKey(), collection: "api_keys" },
      { kind: "Webhook", made: () => theirs.webhook(), collection: "webhooks" },
      { kind: "LiveActivityType", made: () => theirs.activityType(), collection: "live_activity_types" },
      { kind: "Template", made: () => theirs.template(), collection: "templates" },
      { kind: "InAppMessage", made: () => theirs.inAppMessage(), collection: "in_app_messages" },
      { kind: "Segment", made: () => theirs.segment(), collection: "segments" },
    ];
    for (const { kind, made, collection } of kinds) {
      it(`is refused by ${kind}, and gets nothing`, async () => {
        const before = await herald.db.collection(collection).countDocuments();
        const object = made();
        await herald.apply(object);
        await herald.ready(object, "False", "AppNotFound");
        expect(await herald.db.collection(collection).countDocuments()).to.equal(before);
        await herald.remove(object);
        await herald.gone(object);
      });
    }

    it("is refused for one of several apps of a key, and the key gets none of them", async () => {
      const own = theirs.app({ channels: {} }, "own");
      await herald.apply(own);
      await herald.ready(own);
      const key = theirs.apiKey({ appRefs: ["own", "shop"] });
      await herald.apply(key);
      await herald.ready(key, "False", "AppNotFound");
      expect(await herald.db.collection("api_keys").countDocuments({ app_ids: await idOf(own) })).to.equal(0);
      expect(await herald.get({ ...ours.secret("", {}), metadata: secretOf(key) })).to.equal(null);
      for (const object of [key, own]) await herald.remove(object);
      await herald.gone(own);
    });
  });

  it("opens no app of another tenant to a key for every app", async () => {
    const token = await tokenOf(theirs.apiKey({ appRefs: undefined }, "all"));
    const app = await idOf(ours.app());
    for (const path of [types(app), `/v1/apps/${app}/webhooks`, `/v1/notifications?app_id=${app}`]) {
      expect((await call("GET", path, token)).status, path).to.equal(404);
    }
  });

  it("keeps records with their tenant when it is given to another, and lets the new one reach none of them", async () => {
    const webhook = ours.webhook();
    const key = ours.apiKey();
    const type = ours.activityType();
    const token = await tokenOf(key);
    for (const object of [webhook, type]) {
      await herald.apply(object);
      await herald.ready(object);
    }
    const app = await idOf(ours.app());
    const records = async () => ({
      webhook: await herald.db.collection<WebhookRow>("webhooks").findOne({ _id: await idOf(webhook) }),
      type: await herald.db.collection<LiveActivityTypeRow>("live_activity_types").findOne({ _id: await idOf(type) }),
      key: await herald.db.collection<ApiKeyRow>("api_keys").findOne({ _id: await idOf(key) }),
    });
    const before = await records();
    const [mine, other] = [`${herald.id}-a`, `${herald.id}-b`];
    await herald.patch(tenants.ours, { spec: { namespaces: [`${herald.id}-nowhere`] } });
    await herald.patch(tenants.theirs, { spec: { namespaces: [other, mine] } });
    await herald.ready(ours.app(), "False", "TenantChanged");
    await herald.ready(key, "False", "TenantChanged");
    await herald.patch(webhook, { spec: { url: "https://hooks.example/stolen" } });
    await herald.ready(webhook, "Unknown", "AppNotReady");
    await herald.patch(type, { spec: { description: "stolen" } });
    await herald.ready(type, "Unknown", "AppNotReady");
    const late = [ours.webhook({}, "late"), ours.activityType({ name: "Late" }, "late"), ours.apiKey({}, "late")];
    for (const object of late) {
      await herald.apply(object);
      await herald.ready(object, "Unknown", "AppNotReady");
    }
    expect(await records()).to.deep.equal(before);
    expect(await herald.db.collection("webhooks").countDocuments({ app_id: app })).to.equal(1);
    expect((await call("GET", types(app), token)).status, "its own key works on").to.equal(200);
    const stranger = await tokenOf(ours.apiKey({ appRefs: undefined }, "stranger"));
    expect((await call("GET", types(app), stranger)).status).to.equal(404);
    await herald.patch(tenants.theirs, { spec: { namespaces: [other] } });
    await herald.patch(tenants.ours, { spec: { namespaces: [mine] } });
    for (const object of [ours.app(), key, webhook, type, ...late]) await herald.ready(object);
    for (const object of [...late, webhook, type, key]) await herald.remove(object);
    for (const object of [...late, webhook, type, key]) await herald.gone(object);
  });

  it("is refused by REST once its suspension in git is announced, and let in after its end", async () => {
    const token = await tokenOf(ours.apiKey({}, "suspended"));
    const path = types(await idOf(ours.app()));
    const answer = async () => (await call("GET", path, token)).status;
    expect(await answer()).to.equal(200);
    for (const [suspended, status] of [
      [true, 403],
      [false, 200],
    ] as const) {
      await herald.patch(tenants.ours, { spec: { suspended } });
      await until(async () => (await answer()) === status, announcedMs);
    }
  });

  it("leaves to REST who is on a list of git's, and nothing that git says of it", async () => {
    const token = await tokenOf(ours.apiKey({}, "lists"));
    const app = await idOf(ours.app());
    const list = ours.segment({ name: "Testers", kind: "list", filter: undefined }, "testers");
    await herald.apply(list);
    const path = `/v1/apps/${app}/segments/${(await herald.ready(list)).status?.id}`;
    const { body: user } = await call("POST", `/v1/apps/${app}/users`, token, { external_id: "ada" });
    const users = [{ label: "user_id", id: user.id }];
    expect((await call("POST", `${path}/members`, token, { users })).body).to.deep.equal({ added: 1, missing: [] });
    for (const [method, body] of [
      ["PATCH", { name: "Others" }],
      ["DELETE", undefined],
    ] as const) {
      const refused = await call(method, path, token, body);
      expect([refused.status, refused.body.error.code]).to.deep.equal([409, "HS_MANAGED"]);
      expect(refused.body.error.details).to.deep.include({ kind: "Segment", name: "testers" });
    }
    await herald.remove(list);
    await herald.gone(list);
    expect((await call("GET", path, token)).status).to.equal(404);
  });

  describe("with live activity types of git and of REST", () => {
    let token: string;
    let path: string;
    before(async () => {
      token = await tokenOf(ours.apiKey({}, "types"));
      path = types(await idOf(ours.app()));
    });
    const listed = async () => (await call("GET", path, token)).body.data;

    it("lists one that is declared in git, and leaves it to git", async () => {
      const type = ours.activityType({ description: "an order" });
      await herald.apply(type);
      const { status } = await herald.ready(type);
      expect((await listed()).find(({ id }) => id === status?.id)).to.deep.include({
        name: "OrderAttributes",
        description: "an order",
        attributes_schema: schema,
      });
      const refused = await call("PATCH", `${path}/OrderAttributes`, token, { description: "x" });
      expect([refused.status, refused.body.error.code]).to.deep.equal([409, "HS_MANAGED"]);
      expect(refused.body.error.details).to.deep.include({ kind: "LiveActivityType", name: "order" });
      expect((await call("DELETE", `${path}/OrderAttributes`, token)).status).to.equal(409);
      await herald.remove(type);
      await herald.gone(type);
      expect(await listed()).to.deep.equal([]);
    });

    it("says in git that REST has the name, and takes it over when REST lets go", async () => {
      const { body } = await call("POST", path, token, { name: "RideAttributes", content_state_schema: schema });
      const type = ours.activityType({ name: "RideAttributes" }, "ride");
      await herald.apply(type);
      const seen = await herald.ready(type, "False", "NameTaken");
      expect(JSON.stringify(seen.status?.conditions)).to.contain(body.id);
      await call("DELETE", `${path}/${body.id}`, token);
      await herald.ready(type);
      expect((await listed()).map(({ name }) => name)).to.deep.equal(["RideAttributes"]);
      await herald.remove(type);
      await herald.gone(type);
    });

    it("adopts one that REST made, with consent, and gives it back with Retain", async () => {
      const { body } = await call("POST", path, token, { name: "TripAttributes", content_state_schema: schema });
      const spec = { name: "TripAttributes", externalName: body.id, deletionPolicy: "Retain" };
      const type = ours.activityType(spec, "trip");
      await herald.apply(type);
      await herald.ready(type, "False", "AdoptionNotConfirmed");
      expect((await call("PATCH", `${path}/${body.id}`, token, {})).status).to.equal(200);
      await herald.patch(type, { metadata: { annotations: { "herald.dev/adopt": body.id } } });
      await herald.ready(type);
      expect((await call("PATCH", `${path}/${body.id}`, token, {})).status).to.equal(409);
      expect((await listed())[0]).to.deep.include({ id: body.id, name: "TripAttributes" });
      await herald.remove(type);
      await herald.gone(type);
      expect((await call("PATCH", `${path}/${body.id}`, token, { description: "REST's" })).status).to.equal(200);
      expect((await call("DELETE", `${path}/TripAttributes`, token)).status).to.equal(200);
    });
  });
});
