import { expect } from "chai";
import { hashOf } from "#core/domain/api-keys/hashes.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest, type Seen, type Started } from "../support/harness.ts";
import { manifests, textOf } from "../support/manifests.ts";

describe("operator: what two want, one gets", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let started: Started;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
    started = await herald.start();
    for (const object of [make.plan(), make.tenant(), make.app({ channels: {} })]) await herald.apply(object);
    await herald.ready(make.app());
  });
  after(() => herald.close());

  const messageOf = async (object: Manifest): Promise<string> =>
    (await herald.conditionOf(object, "Ready"))?.message ?? "";
  const tenant = (name: string) =>
    make.tenant({ displayName: `${herald.id} twin`, namespaces: [`${herald.id}-${name}`] }, `${herald.id}-${name}`);
  const names = [
    { what: "a tenant's name", one: () => tenant("one"), two: () => tenant("two") },
    {
      what: "an app's name",
      one: () => make.app({ displayName: "Twin", channels: {} }, "one"),
      two: () => make.app({ displayName: "Twin", channels: {} }, "two"),
    },
    {
      what: "a live activity type's name",
      one: () => make.activityType({ name: "Twin" }, "one"),
      two: () => make.activityType({ name: "Twin" }, "two"),
    },
    {
      what: "a segment's name",
      one: () => make.segment({ name: "Twin" }, "one"),
      two: () => make.segment({ name: "Twin" }, "two"),
    },
    {
      what: "a template's name",
      one: () => make.template({ name: "Twin" }, "one"),
      two: () => make.template({ name: "Twin" }, "two"),
    },
    {
      what: "an in-app message's name",
      one: () => make.inAppMessage({ name: "Twin" }, "one"),
      two: () => make.inAppMessage({ name: "Twin" }, "two"),
    },
  ];

  /** The older of two, as everybody can see. */
  const byAge = ({ metadata: a }: Seen, { metadata: b }: Seen): number => {
    const [x, y] = [a, b].map((of) => `${(of as { creationTimestamp?: string }).creationTimestamp} ${of.uid}`);
    return (x ?? "") < (y ?? "") ? -1 : 1;
  };

  for (const { what, one, two } of names) {
    it(`${what} is the older one's, however they come to be seen`, async () => {
      await started.stop();
      const [older, younger] = [await herald.apply(one()), await herald.apply(two())].sort(byAge);
      started = await herald.start();
      await herald.ready(older!);
      await herald.ready(younger!, "False", "NameTaken");
      expect(await messageOf(younger!)).to.contain(older!.metadata.name);
      await herald.remove(older!);
      await herald.gone(older!);
      await herald.ready(younger!);
      await herald.remove(younger!);
      await herald.gone(younger!);
    });
  }

  it("a name that another gives up is free", async () => {
    const two = make.app({ displayName: "Held", channels: {} }, "two");
    const rival = make.app({ displayName: "Held", channels: {} }, "three");
    await herald.apply(two);
    await herald.ready(two);
    await herald.apply(rival);
    await herald.ready(rival, "False", "NameTaken");
    await herald.patch(two, { spec: { displayName: "Let go" } });
    await herald.ready(rival);
    for (const object of [two, rival]) await herald.remove(object);
  });

  it("a name of a record that is no resource's is reported, with its id", async () => {
    const first = make.activityType({ name: "Kept", deletionPolicy: "Retain" }, "kept");
    await herald.apply(first);
    const id = (await herald.ready(first)).status?.id ?? "";
    await herald.remove(first);
    await herald.gone(first);
    await herald.apply(first);
    await herald.ready(first, "False", "NameTaken");
    expect(await messageOf(first))
      .to.contain(id)
      .and.to.contain("externalName");
    await herald.db.collection<{ _id: string }>("live_activity_types").deleteOne({ _id: id });
    await herald.ready(first); // looked at again by itself
    await herald.remove(first);
  });

  it("a record of a former resource of its name is a resource's again, when it names it", async () => {
    const app = make.app({ channels: {} }, "former");
    await herald.apply(app);
    const id = (await herald.ready(app)).status?.id ?? "";
    await started.stop();
    await herald.remove(app);
    await herald.patch(app, { metadata: { finalizers: null } }); // as if the cluster had been made anew
    await herald.gone(app);
    await herald.apply(app);
    started = await herald.start();
    await herald.ready(app, "False", "NameTaken");
    expect(await messageOf(app)).to.contain(id);
    await herald.patch(app, { spec: { externalName: id } });
    expect((await herald.ready(app)).status?.id).to.equal(id);
    await herald.remove(app);
    await herald.gone(app);
    expect(await herald.db.collection<{ _id: string }>("apps").findOne({ _id: id })).to.equal(null);
  });

  it("two adopt one record: the older does", async () => {
    const first = make.webhook({ deletionPolicy: "Retain" }, "adopted");
    await herald.apply(first);
    const id = (await herald.ready(first)).status?.id ?? "";
    await herald.remove(first);
    await herald.gone(first);
    await started.stop();
    const annotations = { "herald.dev/adopt": id };
    const adopter = (name: string): Manifest => {
      const object = make.webhook({ externalName: id }, name);
      return { ...object, metadata: { ...object.metadata, annotations } };
    };
    const [older, younger] = [await herald.apply(adopter("a")), await herald.apply(adopter("b"))].sort(byAge);
    started = await herald.start();
    await herald.ready(older!);
    await herald.ready(younger!, "False", "ManagedByAnother");
    await herald.remove(older!);
    await herald.ready(younger!, "False", "ExternalNotFound"); // it was removed with the older
    await herald.remove(younger!);
  });

  it("a resource that made a record cannot be about another one", async () => {
    await herald.apply(make.webhook({}, "maker"));
    const { status } = await herald.ready(make.webhook({}, "maker"));
    const other = `whk_${"0".repeat(26)}`;
    const change = (externalName: string) =>
      herald.patch(make.webhook({}, "maker"), { spec: { externalName } }).then(() => "accepted", String);
    expect(await change(other)).to.contain("can only become status.id");
    expect(await change(status?.id ?? "")).to.equal("accepted");
    await herald.ready(make.webhook({}, "maker"));
    expect(await change(other)).to.contain("externalName cannot be changed");
  });

  it("a resource that turns to Observe lets go of its record and its Secret", async () => {
    const webhook = make.webhook({}, "watcher");
    await herald.apply(webhook);
    const id = (await herald.ready(webhook)).status?.id ?? "";
    await herald.patch(webhook, { spec: { managementPolicy: "Observe", externalName: id } });
    await herald.ready(webhook, "True", "Observed");
    const row = () => herald.db.collection<WebhookRow>("webhooks").findOne({ _id: id });
    expect((await row())?.managed).to.equal(null);
    const secret = await herald.get(make.secret("watcher-signing", {}));
    expect(ownersOf(secret)).to.deep.equal([]);
    await herald.remove(webhook);
    await herald.gone(webhook);
    expect(await row()).not.to.equal(null);
  });

  describe("a Secret that was left", () => {
    const adopted = (object: Manifest, id: string): Manifest => ({
      ...object,
      metadata: { ...object.metadata, annotations: { "herald.dev/adopt": id } },
      spec: { ...object.spec, externalName: id },
    });
    const left = async (object: Manifest): Promise<string> => {
      await herald.apply(object);
      const id = (await herald.ready(object)).status?.id ?? "";
      await herald.remove(object);
      await herald.gone(object);
      return id;
    };

    it("is a key's again, with its token", async () => {
      const key = make.apiKey({ deletionPolicy: "Retain" }, "left");
      const id = await left(key);
      const token = textOf(await herald.get(make.secret("left-connection", {})), "token");
      await herald.apply(adopted(key, id));
      await herald.ready(key);
      const secret = await herald.get(make.secret("left-connection", {}));
      expect(textOf(secret, "token")).to.equal(token);
      expect(ownersOf(secret)).to.deep.equal(["left"]);
    });

    it("is another's when a key does not know its token; the key's own tokens have a day", async () => {
      const key = make.apiKey({ deletionPolicy: "Retain", connectionSecretName: "before" }, "lost");
      const id = await left(key);
      const token = textOf(await herald.get(make.secret("before", {})), "token");
      const again = adopted(make.apiKey({ connectionSecretName: "left-connection" }, "lost"), id);
      await herald.apply(again);
      await herald.ready(again, "False", "SecretConflict");
      await herald.remove(again);
      await herald.gone(again);
      const elsewhere = adopted(make.apiKey({ connectionSecretName: "after" }, "elsewhere"), id);
      await herald.apply(elsewhere);
      await herald.ready(elsewhere);
      const row = await herald.db.collection<ApiKeyRow>("api_keys").findOne({ _id: id });
      const former = row?.hashes.find(({ hash }) => hash === hashOf(token));
      expect((former?.expires_at?.getTime() ?? 0) - Date.now()).to.be.within(86_000_000, 86_400_000);
    });

    it("is a webhook's again, with its signing secret", async () => {
      const webhook = make.webhook({ deletionPolicy: "Retain" }, "left");
      const id = await left(webhook);
      const value = textOf(await herald.get(make.secret("left-signing", {})), "secret");
      await herald.apply(adopted(webhook, id));
      await herald.ready(webhook);
      const secret = await herald.get(make.secret("left-signing", {}));
      expect(textOf(secret, "secret")).to.equal(value);
      expect(ownersOf(secret)).to.deep.equal(["left"]);
    });
  });

  it("an app that is kept keeps what hangs on it, whatever goes first", async () => {
    const app = make.app({ channels: {}, deletionPolicy: "Retain" }, "keeper");
    const webhook = make.webhook({ appRef: "keeper", deletionPolicy: "Retain" }, "kept");
    await herald.apply(app);
    await herald.ready(app);
    await herald.apply(webhook);
    const id = (await herald.ready(webhook)).status?.id ?? "";
    await herald.remove(app);
    await herald.gone(app);
    await herald.ready(webhook, "False", "AppNotFound");
    const row = () => herald.db.collection<{ _id: string }>("webhooks").findOne({ _id: id });
    expect(await row()).not.to.equal(null);
    await herald.remove(webhook);
    await herald.gone(webhook);
    await until(async () => (await row()) !== null);
    expect(await row()).to.include({ managed: null });
  });
});

/** Names of the resources that own an object. */
const ownersOf = (seen: Seen | null): string[] => {
  const { ownerReferences = [] } = (seen?.metadata ?? {}) as { ownerReferences?: { name: string }[] }; // of Kubernetes
  return ownerReferences.map(({ name }) => name);
};
