import { expect } from "chai";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest, type Started } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

describe("operator: what it looks at, and when", () => {
  let herald: Installation;
  let ours: ReturnType<typeof manifests>;
  let theirs: ReturnType<typeof manifests>;
  let operator: Started;
  const apps = () => herald.db.collection<AppRow>("apps");
  const eventsOf = async (object: Manifest): Promise<string[]> => {
    const { uid } = (await herald.get(object))?.metadata ?? {};
    const request = { method: "GET", path: `/api/v1/events?fieldSelector=involvedObject.uid%3D${uid}` } as const;
    const { items } = await herald.client.call<{ items: { reason: string }[] }>(request, AbortSignal.timeout(60_000));
    return items.map(({ reason }) => reason);
  };
  const handled = (value: string) =>
    until(async () => (await herald.get(ours.app()))?.status?.["lastHandledReconcileAt"] === value);
  const repairs = async (): Promise<number> =>
    (await operator.metrics.driftRepairs.get()).values.find(({ labels }) => labels.kind === "app")?.value ?? 0;
  const reconcile = (object: Manifest, value: string) =>
    herald.patch(object, { metadata: { annotations: { "herald.dev/reconcile": value } } });

  before(async () => {
    herald = await installation();
    ours = manifests(herald);
    theirs = manifests(herald, `${herald.id}-b`);
    const namespaces = [ours.namespace, theirs.namespace];
    const tenant = ours.tenant({ namespaces: namespaces.map(({ metadata }) => metadata.name) });
    const everywhere = await herald.start();
    for (const object of [...namespaces, ours.plan(), tenant, ours.iosSecret(), theirs.iosSecret()])
      await herald.apply(object);
    await herald.apply(theirs.app({ displayName: "theirs" }));
    await herald.ready(theirs.app());
    await everywhere.stop();
    const watchNamespaces = [ours.namespace.metadata.name];
    const watchSecrets = [`${watchNamespaces[0]}/ios`];
    operator = await herald.start({ settings: { watchNamespaces, watchSecrets, resyncSeconds: 1 } });
    await herald.apply(ours.app());
    await herald.ready(ours.app());
  });
  after(() => herald?.close());

  it("leaves resources of other namespaces, and their records, as they are", async () => {
    await herald.patch(theirs.app(), { spec: { displayName: "theirs, changed" } });
    const listed = async () =>
      (await operator.metrics.reconciles.get()).values.reduce((sum, { value }) => sum + value, 0);
    const before = await listed();
    await until(async () => (await listed()) >= before + 6, 30_000); // two resyncs of what it looks at
    expect(await apps().findOne({ name: "theirs" })).to.have.nested.property("managed.namespace", `${herald.id}-b`);
    expect((await herald.get(theirs.app()))?.status?.observedGeneration).to.equal(1);
    expect(operator.log()).to.not.include("row.orphaned");
  });

  it("says of a Tenant which of its namespaces are not watched, and goes on with the others", async () => {
    const tenant = await herald.ready(ours.tenant(), "False", "NamespaceNotWatched");
    const namespaces = [ours, theirs].map(({ namespace }) => namespace.metadata.name);
    expect(tenant.status).to.deep.include({ namespaces });
    const ready = await herald.conditionOf(ours.tenant(), "Ready");
    expect(ready?.message).to.contain(namespaces[1]).and.to.not.contain(namespaces[0]);
    await until(async () => (await eventsOf(ours.tenant())).includes("NamespaceNotWatched"));
    await herald.ready(ours.app());
  });

  it("notices a new value of a Secret that it may look at", async () => {
    const accounts = async () =>
      JSON.stringify((await apps().findOne({ "managed.namespace": ours.namespace.metadata.name }))?.channels);
    const before = await accounts();
    await herald.apply(ours.iosSecret()); // of a new key
    await until(async () => (await accounts()) !== before);
  });

  it("tells how many secrets each key of the key ring seals", async () => {
    const sealed = async () => (await operator.metrics.sealed.get()).values;
    await until(async () => (await sealed()).some(({ labels, value }) => labels.kid === "k1" && value > 0));
    expect((await sealed()).map(({ labels }) => labels)).to.deep.equal([{ kid: "k1", known: "true" }]);
  });

  it("reconciles at once when the annotation asks, sets right what was changed, and says which request it followed", async () => {
    await operator.stop();
    operator = await herald.start(); // resyncs each ten minutes
    await herald.ready(ours.tenant()); // it sees all namespaces: that has the App looked at again
    await reconcile(ours.app(), "first");
    await handled("first");
    expect(await repairs()).to.equal(0);
    const app = { "managed.namespace": ours.namespace.metadata.name };
    const wanted = (await apps().findOne(app))?.name;
    await apps().updateOne(app, { $set: { name: "changed behind its back" } });
    await reconcile(ours.app(), "2026-11-23T12:00:00Z");
    await handled("2026-11-23T12:00:00Z");
    expect((await apps().findOne(app))?.name).to.equal(wanted);
    await until(async () => (await repairs()) === 1);
    await until(async () => (await eventsOf(ours.app())).includes("Repaired"));
    await reconcile(ours.app(), "again"); // nothing is to be repaired
    await handled("again");
    expect(await repairs()).to.equal(1);
    await herald.patch(ours.app(), { metadata: { annotations: { "herald.dev/reconcile": null } } });
    await until(async () => (await herald.get(ours.app()))?.status?.["lastHandledReconcileAt"] === undefined);
  });
});
