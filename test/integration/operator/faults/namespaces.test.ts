import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import { until } from "../../../support/until.ts";
import { differences } from "../support/audit.ts";
import { type Installation, installation, type Manifest } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";
import { snapshotOf, withoutTerms } from "../support/snapshot.ts";

const plurals = ["apps", "apikeys", "webhooks", "liveactivitytypes"];

describe("operator: ten namespaces deleted at once", () => {
  let herald: Installation;

  before(async () => {
    herald = await installation();
    await herald.start({ timing: timings.usual }); // each term is in every document
  });
  after(() => herald.close());

  const soon = (): AbortSignal => AbortSignal.timeout(60_000);
  const call = (method: "GET" | "DELETE" | "PUT", path: string, body?: object) =>
    herald.client.call<{ items?: unknown[] }>({ method, path, ...(body && { body }) }, soon());
  const collections = (namespace: string): string[] => [
    ...plurals.map((plural) => `/apis/herald.dev/v1alpha1/namespaces/${namespace}/${plural}`),
    `/api/v1/namespaces/${namespace}/secrets`,
  ];
  const everything = (of: ReturnType<typeof manifests>): Manifest[] => [
    of.namespace,
    of.iosSecret(),
    of.app(),
    of.apiKey(),
    of.webhook(),
    of.activityType(),
  ];
  const resources = (objects: readonly Manifest[]) => objects.filter(({ apiVersion }) => apiVersion !== "v1");

  /** What the namespace controller does, which is not here: deletes all that is in it, and then lets it go. */
  const empty = async (namespace: string): Promise<void> => {
    await Promise.all(collections(namespace).map((path) => call("DELETE", path)));
  };
  const finalize = (name: string) =>
    call("PUT", `/api/v1/namespaces/${name}/finalize`, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name },
      spec: { finalizers: [] },
    });

  it("go, with all that is in them and no other, and nothing hangs", async () => {
    const bystander = manifests(herald);
    const around = [bystander.plan(), bystander.tenant(), ...everything(bystander)];
    for (const object of around) await herald.apply(object);
    for (const object of resources(around)) await herald.ready(object);
    const before = withoutTerms(await snapshotOf(herald));

    const namespaces = Array.from({ length: 10 }, (_, n) => `${herald.id}-n${n}`);
    const [planName, tenantName] = [`${herald.id}-doomed`, `${herald.id}-doomed`];
    const owners = [
      bystander.plan({ webhookEndpoints: 50 }, planName),
      bystander.tenant({ plan: planName, namespaces }, tenantName),
    ];
    for (const owner of owners) await herald.apply(owner);
    const doomed = namespaces.map((namespace, n) => {
      const of = manifests(herald, namespace);
      return everything(of).map((object) => (object.kind === "App" ? of.app({ displayName: `Shop ${n}` }) : object));
    });
    await Promise.all(
      doomed.map(async (objects) => {
        for (const object of objects) await herald.apply(object);
      }),
    );
    for (const object of resources(doomed.flat())) await herald.ready(object);
    expect(await herald.db.collection("webhooks").countDocuments()).to.equal(11);

    await Promise.all(namespaces.map((name) => call("DELETE", `/api/v1/namespaces/${name}`)));
    await Promise.all(namespaces.map(empty));
    await Promise.all(
      namespaces
        .flatMap(collections)
        .map((path) => until(async () => (await call("GET", path)).items?.length === 0, 40_000)),
    );
    await Promise.all(namespaces.map(finalize));
    for (const [namespace] of doomed) if (namespace !== undefined) await herald.gone(namespace);
    for (const owner of owners.toReversed()) {
      await herald.remove(owner);
      await herald.gone(owner);
    }
    expect(await differences(herald)).to.deep.equal([]);
    expect(withoutTerms(await snapshotOf(herald))).to.deep.equal(before);
  });
});
