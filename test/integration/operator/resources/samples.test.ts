import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { allResources } from "#core/channels/all-resources.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import { rootDir } from "../../../../dev/files/paths.ts";
import { type Installation, installation, type Manifest } from "../support/harness.ts";
import { apnsKey, manifests, rsaKey, serviceAccount, vapidKey } from "../support/manifests.ts";

describe("config/samples", () => {
  let herald: Installation;
  let secret: ReturnType<typeof manifests>["secret"];
  const dir = join(rootDir, "config/samples");
  const read = (pattern: string): Manifest[] =>
    globSync(pattern, { cwd: dir })
      .toSorted()
      .flatMap((file) => parseAllDocuments(readFileSync(join(dir, file), "utf8")))
      .map((document) => document.toJS() as Manifest);
  const samples = read("*.yaml");
  const features = read("features/*.yaml");
  const ofSamples = ["shop-backend", "shop-events-signing", "shop-large-orders-signing"];
  const written = [...ofSamples, "shop-reports", "shop-starter-signing"];
  const resources = samples.filter(({ apiVersion }) => apiVersion.startsWith("herald.dev/"));

  before(async () => {
    herald = await installation();
    secret = manifests(herald, "herald-demo").secret;
    for (const name of [...written, "shop-till"]) await herald.remove(secret(name, {})); // of a run that was cut off
    await herald.start({ settings: { allowedRanges: ["127.0.0.0/8"] } }); // as the demo's
  });
  after(() => herald.close());

  it("are a whole installation: every resource becomes ready", async () => {
    for (const sample of samples) await herald.apply(sample);
    await herald.apply(secret("shop-ios", { private_key: apnsKey() }));
    await herald.apply(secret("shop-android", { "service_account.json": serviceAccount() }));
    await herald.apply(secret("shop-huawei", { client_secret: "x" }));
    await herald.apply(secret("shop-web", { private_key: vapidKey() }));
    await herald.apply(secret("shop-email", { password: "x" }));
    await herald.apply(secret("shop-lake", { access_key_id: "x", secret_access_key: "x" }));
    await herald.apply(secret("shop-sms", { auth_token: "x" }));
    await herald.apply(secret("shop-rcs", { auth_token: "x" }));
    await herald.apply(secret("shop-whatsapp", { access_token: "x", app_secret: "x", verify_token: "x" }));
    await herald.apply(secret("shop-chat", { token: "x" }));
    for (const resource of resources) await herald.ready(resource);
    expect(new Set(resources.map(({ kind }) => kind))).to.have.keys(allResources.map(({ kind }) => kind));
  });

  const reasons: Record<string, string> = {
    "growth-as-agreed": "Observed",
    "shop-starter": "CreateOnly",
  };

  it("have one for each feature, and each becomes ready as it says", async () => {
    const types = herald.db.collection<LiveActivityTypeRow>("live_activity_types");
    const order = await types.findOne({ name: "OrderAttributes" });
    const adopted = features.find(({ metadata }) => metadata.name === "shop-parcel");
    const { externalName: id } = adopted!.spec as { externalName: string }; // it is what the sample is about
    await types.insertOne({ ...order!, _id: id, name: "ParcelAttributes", managed: null }); // as over REST
    await herald.apply(secret("letters-email", { password: "x", dkim_private_key: rsaKey() }));
    for (const feature of features) await herald.apply(feature);
    for (const feature of features) await herald.ready(feature, "True", reasons[feature.metadata.name] ?? "Reconciled");
    expect((await types.findOne({ _id: id }))?.managed?.name).to.equal("shop-parcel");
  });

  it("of features go, and leave what they are to leave", async () => {
    for (const feature of features) await herald.remove(feature);
    for (const feature of features) await herald.gone(feature);
    const keys = await herald.db.collection("api_keys").find({ managed: null }).toArray();
    expect(keys.map(({ name }) => name)).to.deep.equal(["shop-till"]);
    expect(await herald.get(secret("shop-till", {}))).not.to.equal(null);
    await herald.remove(secret("shop-till", {}));
  });

  it("go as a whole, in whatever order they are deleted", async () => {
    for (const resource of resources) await herald.remove(resource); // owners first, as kubectl delete -f does
    for (const resource of resources) await herald.gone(resource);
    for (const name of written) expect(await herald.get(secret(name, {}))).to.equal(null);
    for (const name of ["plans", "tenants", "apps"])
      expect(await herald.db.collection(name).countDocuments()).to.equal(0);
  });
});
