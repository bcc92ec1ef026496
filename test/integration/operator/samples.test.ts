import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { rootDir } from "../../../dev/paths.ts";
import { type Installation, installation, type Manifest } from "./harness.ts";
import { apnsKey, manifests, serviceAccount, vapidKey } from "./manifests.ts";

describe("config/samples", function () {
  this.timeout(60_000);
  let herald: Installation;
  let secret: ReturnType<typeof manifests>["secret"];
  const dir = join(rootDir, "config/samples");
  const samples = readdirSync(dir)
    .sort()
    .flatMap((file) => parseAllDocuments(readFileSync(join(dir, file), "utf8")))
    .map((document) => document.toJS() as Manifest);
  const written = ["shop-backend", "shop-events-signing", "shop-large-orders-signing"];
  const resources = samples.filter(({ apiVersion }) => apiVersion.startsWith("herald.dev/"));

  before(async () => {
    herald = await installation();
    secret = manifests(herald, "herald-demo").secret;
    for (const name of written) await herald.remove(secret(name, {})); // of a run that was cut off
    await herald.start({ settings: { allowedRanges: ["127.0.0.0/8"] } }); // as the demo's
  });
  after(() => herald.close());

  it("are a whole installation: every resource becomes ready", async () => {
    for (const sample of samples) await herald.apply(sample);
    await herald.apply(secret("shop-ios", { private_key: apnsKey() }));
    await herald.apply(secret("shop-android", { "service_account.json": serviceAccount() }));
    await herald.apply(secret("shop-web", { private_key: vapidKey() }));
    await herald.apply(secret("shop-email", { password: "x" }));
    await herald.apply(secret("shop-chat", { token: "x" }));
    for (const resource of resources) await herald.ready(resource);
    const kinds = new Set(resources.map(({ kind }) => kind));
    expect([...kinds].sort()).to.deep.equal(["ApiKey", "App", "LiveActivityType", "Plan", "Tenant", "Webhook"]);
  });

  it("go as a whole, in whatever order they are deleted", async () => {
    for (const resource of resources) await herald.remove(resource); // owners first, as kubectl delete -f does
    for (const resource of resources) await herald.gone(resource);
    for (const name of written) expect(await herald.get(secret(name, {}))).to.equal(null);
    for (const name of ["plans", "tenants", "apps"])
      expect(await herald.db.collection(name).countDocuments()).to.equal(0);
  });
});
