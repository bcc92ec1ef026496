import { expect } from "chai";
import type { ManagedRow } from "#core/storage/settings/managed.ts";
import { requireUnmanaged } from "../../../../apiserver/settings/managed.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest, type Started } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

/** A kind as the table below puts it through every policy. */
type Kind = {
  kind: string;
  collection: string;
  /** A resource of this name, about a record that the others of the kind could be about too. */
  make: (name: string, spec?: object) => Manifest;
  /** A spec that says otherwise of one member of the record, and the names of both. */
  other: { spec: object; member: string; says: string; value: unknown };
  /** An id that no record has. */
  nobody: string;
};

const noId = "0".repeat(26);

describe("operator: management policies", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let started: Started;

  const start = async (): Promise<void> => void (started = await herald.start({ settings: { resyncSeconds: 1 } }));

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
    await start();
    for (const object of [make.plan(), make.tenant(), make.app({ channels: {} })]) await herald.apply(object);
    await herald.ready(make.app());
  });
  after(() => herald.close());

  const repairsOf = async (kind: string): Promise<number> => {
    const { values } = await started.metrics.driftRepairs.get();
    return values.find(({ labels }) => labels.kind === kind.toLowerCase())?.value ?? 0;
  };

  const kinds: Kind[] = [
    {
      kind: "Plan",
      collection: "plans",
      make: (name, spec) => make.plan(spec, `${herald.id}-${name}`),
      other: { spec: { title: "Other" }, member: "title", says: "title", value: "Other" },
      nobody: "nobody",
    },
    {
      kind: "Tenant",
      collection: "tenants",
      make: (name, spec) =>
        make.tenant(
          { displayName: `${herald.id} Acme`, namespaces: [`${herald.id}-t`], ...spec },
          `${herald.id}-${name}`,
        ),
      other: {
        spec: { contact: { email: "b@b.example" } },
        member: "contact_email",
        says: "contact.email",
        value: "b@b.example",
      },
      nobody: `ten_${noId}`,
    },
    {
      kind: "App",
      collection: "apps",
      make: (name, spec) => make.app({ displayName: "Policies", channels: {}, ...spec }, name),
      other: { spec: { timeZone: "Asia/Tokyo" }, member: "time_zone", says: "settings.timeZone", value: "Asia/Tokyo" },
      nobody: `app_${noId}`,
    },
    {
      kind: "ApiKey",
      collection: "api_keys",
      make: (name, spec) =>
        make.apiKey({ displayName: "Policies", connectionSecretName: "policies-key", ...spec }, name),
      other: { spec: { displayName: "Other" }, member: "name", says: "displayName", value: "Other" },
      nobody: `key_${noId}`,
    },
    {
      kind: "Webhook",
      collection: "webhooks",
      make: (name, spec) => make.webhook({ secretName: "policies-signing", ...spec }, name),
      other: { spec: { description: "Other" }, member: "description", says: "description", value: "Other" },
      nobody: `whk_${noId}`,
    },
    {
      kind: "LiveActivityType",
      collection: "live_activity_types",
      make: (name, spec) => make.activityType({ name: "Policies", ...spec }, name),
      other: { spec: { description: "Other" }, member: "description", says: "description", value: "Other" },
      nobody: `lat_${noId}`,
    },
    {
      kind: "Segment",
      collection: "segments",
      make: (name, spec) => make.segment({ name: "Policies", description: "First", ...spec }, name),
      other: { spec: { description: "Other" }, member: "description", says: "description", value: "Other" },
      nobody: `seg_${noId}`,
    },
    {
      kind: "Template",
      collection: "templates",
      make: (name, spec) => make.template({ name: "Policies", description: "First", ...spec }, name),
      other: { spec: { description: "Other" }, member: "description", says: "description", value: "Other" },
      nobody: `tpl_${noId}`,
    },
    {
      kind: "InAppMessage",
      collection: "in_app_messages",
      make: (name, spec) => make.inAppMessage({ name: "Policies", priority: 1, ...spec }, name),
      other: { spec: { priority: 7 }, member: "priority", says: "priority", value: 7 },
      nobody: `iam_${noId}`,
    },
  ];

  for (const { kind, collection, make: made, other, nobody } of kinds) {
    describe(`of a record of kind ${kind}`, () => {
      let id: string;
      const rows = () => herald.db.collection<ManagedRow & Record<string, unknown>>(collection);
      const row = async () => (await rows().findOne({ _id: id }))!;
      const adopt = () => ({ metadata: { annotations: { "herald.dev/adopt": id } } });
      const messageOf = async (object: Manifest): Promise<string> =>
        (await herald.conditionOf(object, "Ready"))?.message ?? "";

      it("is REST's from when a resource with Retain was deleted", async () => {
        const first = made("p-first", { deletionPolicy: "Retain" });
        await herald.apply(first);
        id = (await herald.ready(first)).status?.id ?? "";
        const before = await row();
        expect(() => requireUnmanaged("record", before))
          .to.throw(`${kind} `)
          .with.property("code", "HS_MANAGED");
        await herald.remove(first);
        await herald.gone(first);
        const { managed, updated_at: _, ...members } = await row();
        const { managed: __, updated_at: ___, ...membersBefore } = before;
        expect(managed).to.equal(null);
        requireUnmanaged("record", { managed }); // REST may
        expect(members).to.deep.equal(membersBefore);
      });

      it("is only looked at with Observe, and deletion touches nothing", async () => {
        const before = await row();
        const observer = made("p-observer", { managementPolicy: "Observe", externalName: id, ...other.spec });
        await herald.apply(observer);
        const { status } = await herald.ready(observer, "True", "Observed");
        expect(status?.id).to.equal(id);
        expect(await messageOf(observer)).to.contain(`otherwise of ${other.says}`);
        await herald.remove(observer);
        await herald.gone(observer);
        expect(await row()).to.deep.equal(before);
      });

      it("is not taken over before somebody consents, who learns what would change", async () => {
        const before = await row();
        const second = made("p-second", { externalName: id, deletionPolicy: "Retain", ...other.spec });
        await herald.apply(second);
        await herald.ready(second, "False", "AdoptionNotConfirmed");
        expect(await messageOf(second)).to.match(new RegExp(`would change ([\\w.]+, )*${other.says}`));
        await herald.patch(second, { metadata: { annotations: { "herald.dev/adopt": nobody } } });
        await herald.ready(second, "False", "AdoptionNotConfirmed");
        expect(await row()).to.deep.equal(before);
      });

      it("keeps its id when it is taken over", async () => {
        const second = made("p-second");
        await herald.patch(second, adopt());
        const { status } = await herald.ready(second);
        expect(status?.id).to.equal(id);
        const after = await row();
        expect(after.managed?.name).to.equal(second.metadata.name);
        expect(after[other.member]).to.deep.equal(other.value);
      });

      it("is its resource's alone, and the next one's when that lets go", async () => {
        const second = made("p-second");
        const third = made("p-third", { externalName: id });
        await herald.apply({ ...third, metadata: { ...third.metadata, ...adopt().metadata } });
        await herald.ready(third, "False", "ManagedByAnother");
        expect(await messageOf(third)).to.contain(second.metadata.name);
        await herald.remove(second);
        await herald.gone(second);
        await herald.ready(third);
        expect((await row()).managed?.name).to.equal(third.metadata.name);
      });

      it("is repaired when it is edited, or removed, behind its resource's back", async () => {
        const before = await row();
        await started.stop();
        await start(); // which looks for no other reason than a resync: no event is still on its way
        await rows().updateOne({ _id: id }, { $set: { [other.member]: "edited" } });
        await until(async () => (await row())[other.member] !== "edited", 25_000);
        await until(async () => (await repairsOf(kind)) === 1);
        await rows().deleteOne({ _id: id });
        await until(async () => (await rows().findOne({ _id: id })) !== null, 25_000);
        await until(async () => (await repairsOf(kind)) === 2);
        expect((await row())[other.member]).to.deep.equal(before[other.member]);
      });

      it("is left to others with CreateOnly, and not made again", async () => {
        const third = made("p-third");
        await herald.patch(third, { spec: { managementPolicy: "CreateOnly" } });
        await herald.ready(third, "True", "CreateOnly");
        requireUnmanaged("record", await row()); // REST may
        await rows().updateOne({ _id: id }, { $set: { [other.member]: "edited" } });
        await herald.patch(third, { spec: other.spec });
        await herald.ready(third, "True", "CreateOnly");
        expect((await row())[other.member]).to.equal("edited");
        await rows().deleteOne({ _id: id });
        await herald.patch(third, { metadata: { annotations: { look: "again" } } });
        await herald.ready(third, "False", "ExternalNotFound");
        await herald.remove(third);
        await herald.gone(third);
      });

      it("is made once with CreateOnly, and removed with its resource", async () => {
        const fourth = made("p-fourth", { managementPolicy: "CreateOnly" });
        await herald.apply(fourth);
        await until(async () => {
          const seen = await herald.conditionOf(fourth, "Ready");
          return seen?.status === "True";
        }, 15_000);
        id = (await herald.get(fourth))?.status?.id ?? "";
        expect((await row()).managed?.policy).to.equal("CreateOnly");
        await herald.remove(fourth);
        await herald.gone(fourth);
        expect(await rows().findOne({ _id: id })).to.equal(null);
      });

      it("has to exist", async () => {
        const fifth = made("p-fifth", { externalName: nobody });
        await herald.apply(fifth);
        await herald.ready(fifth, "False", "ExternalNotFound");
        await herald.remove(fifth);
        await herald.gone(fifth);
        expect(await rows().findOne({ _id: nobody })).to.equal(null);
      });
    });
  }
});
