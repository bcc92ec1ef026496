import { expect } from "chai";
import { type Installation, installation, type Manifest } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

describe("operator: another tenant's", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let theirs: ReturnType<typeof manifests>;
  const ids = new Map<string, string>();

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
    await herald.start();
    for (const object of [make.plan(), make.tenant(), make.app({ channels: {} })]) await herald.apply(object);
    await herald.ready(make.app());
    theirs = manifests(herald, `${herald.id}-b`);
    await herald.apply(theirs.namespace);
    await herald.apply(theirs.tenant({}, `${herald.id}-theirs`));
    const all = [
      make.app({ channels: {}, deletionPolicy: "Retain" }, "lent"),
      make.apiKey({}, "lent"),
      make.webhook({}, "lent"),
    ];
    for (const object of [...all, make.activityType({ name: "Lent" }, "lent")]) {
      await herald.apply(object);
      ids.set(object.kind, (await herald.ready(object)).status?.id ?? "");
    }
    await herald.apply(theirs.app({ channels: {} }));
    await herald.ready(theirs.app());
  });

  after(() => herald.close());

  const messageOf = async (object: Manifest): Promise<string> =>
    (await herald.conditionOf(object, "Ready"))?.message ?? "";
  const kinds = [
    (spec: object) => theirs.app({ channels: {}, ...spec }, "lent"),
    (spec: object) => theirs.apiKey(spec, "lent"),
    (spec: object) => theirs.webhook(spec, "lent"),
    (spec: object) => theirs.activityType({ name: "Lent", ...spec }, "lent"),
  ];
  for (const [index, made] of kinds.entries()) {
    for (const managementPolicy of ["Enforce", "Observe"]) {
      it(`record does not exist for a resource, ${managementPolicy} (${["App", "ApiKey", "Webhook", "LiveActivityType"][index]})`, async () => {
        const { kind } = made({});
        const externalName = ids.get(kind) ?? "";
        const object = made({ managementPolicy, externalName });
        await herald.apply({
          ...object,
          metadata: { ...object.metadata, annotations: { "herald.dev/adopt": externalName } },
        });
        await herald.ready(object, "False", "ExternalNotFound");
        expect(await messageOf(object)).not.to.contain("lent");
        await herald.remove(object);
        await herald.gone(object);
      });
    }
  }

  it("app is not reached by a resource that names an App that names it", async () => {
    const externalName = ids.get("App") ?? "";
    const door = theirs.app({ channels: {}, externalName, managementPolicy: "Observe" }, "door");
    await herald.apply(door);
    await herald.ready(door, "False", "ExternalNotFound");
    const webhook = theirs.webhook({ appRef: "door" }, "spy");
    await herald.apply(webhook);
    await herald.ready(webhook, "Unknown", "AppNotReady");
    expect(await herald.db.collection("webhooks").countDocuments({ app_id: externalName })).to.equal(0);
    for (const object of [webhook, door]) await herald.remove(object);
  });

  it("app stays when a resource that only names it is deleted", async () => {
    const externalName = ids.get("App") ?? "";
    const door = theirs.app({ channels: {}, externalName }, "door-2");
    await herald.apply(door);
    await herald.ready(door, "False", "ExternalNotFound");
    await herald.remove(door);
    await herald.gone(door);
    expect(await herald.db.collection<{ _id: string }>("apps").findOne({ _id: externalName })).not.to.equal(null);
  });
});
