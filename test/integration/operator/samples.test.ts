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

  before(async () => {
    herald = await installation();
    await herald.start();
  });
  after(() => herald.close());

  it("are a whole installation: every resource becomes ready", async () => {
    const dir = join(rootDir, "config/samples");
    const samples = readdirSync(dir)
      .sort()
      .flatMap((file) => parseAllDocuments(readFileSync(join(dir, file), "utf8")))
      .map((document) => document.toJS() as Manifest);
    for (const sample of samples) await herald.apply(sample);
    const { secret } = manifests(herald, "herald-demo");
    await herald.apply(secret("shop-ios", { private_key: apnsKey() }));
    await herald.apply(secret("shop-android", { "service_account.json": serviceAccount() }));
    await herald.apply(secret("shop-web", { private_key: vapidKey() }));
    await herald.apply(secret("shop-email", { password: "x" }));
    const resources = samples.filter(({ apiVersion }) => apiVersion.startsWith("herald.dev/"));
    for (const resource of resources) await herald.ready(resource);
    const kinds = new Set(resources.map(({ kind }) => kind));
    expect([...kinds].sort()).to.deep.equal(["ApiKey", "App", "LiveActivityType", "Plan", "Tenant", "Webhook"]);
    for (const name of ["shop-ios", "shop-android", "shop-web", "shop-email"]) await herald.remove(secret(name, {}));
  });
});
