import { expect } from "chai";
import type { Condition } from "#core/schema/kubernetes/common.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

describe("operator: what waits for others, long before the next resync", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  const full = { apps: 1, webhookEndpoints: 1, features: ["webhooks"] };
  const app = (name: string) => make.app({ channels: {} }, name);

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
    await herald.start();
    for (const object of [make.plan(full), make.tenant(), app("shop"), make.webhook()]) {
      await herald.apply(object);
      await herald.ready(object);
    }
  });
  after(() => herald?.close());

  /** What is refused is looked at again after some seconds; the next resync is minutes away. */
  const isReady = (object: Manifest) => until(async () => (await statusOf(object)) === "True");
  const statusOf = async (object: Manifest): Promise<Condition["status"] | undefined> =>
    (await herald.conditionOf(object, "Ready"))?.status;

  it("is made when the plan gets room and a feature", async () => {
    const [second, more, type] = [app("second"), make.webhook({}, "more"), make.activityType()];
    for (const object of [second, more, type]) await herald.apply(object);
    for (const object of [second, more]) await herald.ready(object, "False", "PlanLimitReached");
    await herald.ready(type, "False", "PlanFeatureRequired");
    await herald.patch(make.plan(), {
      spec: { ...full, apps: 2, webhookEndpoints: 2, features: ["live_activities", "webhooks"] },
    });
    for (const object of [second, more, type]) await isReady(object);
  });

  it("is made when another webhook goes", async () => {
    const third = make.webhook({}, "third");
    await herald.apply(third);
    await herald.ready(third, "False", "PlanLimitReached");
    await herald.remove(make.webhook({}, "more"));
    await isReady(third);
  });

  it("is in effect again when the app's document is, which somebody had removed", async () => {
    const apps = herald.db.collection<{ _id: string }>("apps");
    const { status } = await herald.ready(app("shop"));
    const row = await apps.findOne({ _id: status?.id ?? "" });
    await apps.deleteOne({ _id: status?.id ?? "" });
    await herald.patch(make.webhook(), { spec: { url: "https://hooks.example/b" } });
    await herald.ready(make.webhook(), "Unknown", "AppNotReady");
    expect(row).not.to.equal(null);
    await herald.patch(app("shop"), { metadata: { annotations: { "herald.dev/looked-at": "again" } } });
    await until(async () => (await statusOf(make.webhook())) === "True", 25_000);
  });
});
