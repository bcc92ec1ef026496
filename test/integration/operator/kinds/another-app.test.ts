import { expect } from "chai";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { type Installation, installation, type Manifest } from "../support/harness.ts";
import { manifests, textOf } from "../support/manifests.ts";
import { withoutTerms } from "../support/snapshot.ts";

const kept = { channels: {}, deletionPolicy: "Retain" };

describe("operator: an App of the same name as the one before", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let tenants: { first: Manifest; second: Manifest };

  beforeEach(async () => {
    herald = await installation();
    make = manifests(herald);
    tenants = {
      first: make.tenant(),
      second: make.tenant({ namespaces: [`${herald.id}-elsewhere`] }, `${herald.id}-second`),
    };
    await herald.apply(make.namespace);
    await herald.start();
    for (const object of [make.plan(), tenants.first, tenants.second]) {
      await herald.apply(object);
      await herald.ready(object);
    }
  });
  afterEach(() => herald.close());

  const made = async (app: Manifest): Promise<string> => {
    for (const object of [app, make.webhook(), make.activityType()]) await herald.apply(object);
    for (const object of [make.webhook(), make.activityType()]) await herald.ready(object);
    return (await herald.ready(app)).status?.id ?? "";
  };
  const records = async () =>
    withoutTerms({
      webhooks: await herald.db.collection<WebhookRow>("webhooks").find().toArray(),
      types: await herald.db.collection<LiveActivityTypeRow>("live_activity_types").find().toArray(),
    });
  const signingSecret = async () => textOf(await herald.get(make.secret("events-signing", {})), "secret");
  const unmake = async (app: Manifest): Promise<void> => {
    await herald.remove(app);
    await herald.gone(app);
    for (const object of [make.webhook(), make.activityType()]) await herald.ready(object, "False", "AppNotFound");
  };
  const giveToSecond = async (): Promise<void> => {
    await herald.patch(tenants.first, { spec: { namespaces: [`${herald.id}-nowhere`] } });
    await herald.ready(tenants.first);
    await herald.patch(tenants.second, { spec: { namespaces: [`${herald.id}-a`] } });
    await herald.ready(tenants.second);
  };

  it("gets no webhook and no live activity type of another tenant's app that was kept", async () => {
    await made(make.app(kept));
    await unmake(make.app());
    const before = await records();
    await giveToSecond();
    await herald.apply(make.app({ channels: {} }));
    await herald.ready(make.app());
    for (const object of [make.webhook(), make.activityType()]) await herald.ready(object, "False", "AppChanged");
    expect(await records()).to.deep.equal(before);
  });

  it("gets none of the same tenant's app that was kept, until the resources are made anew", async () => {
    await made(make.app(kept));
    await unmake(make.app());
    const before = await records();
    const next = make.app({ channels: {}, displayName: "Next" });
    await herald.apply(next);
    const { status } = await herald.ready(next);
    for (const object of [make.webhook(), make.activityType()]) await herald.ready(object, "False", "AppChanged");
    expect(await records()).to.deep.equal(before);
    await herald.remove(make.webhook());
    await herald.gone(make.webhook());
    await herald.apply(make.webhook());
    await herald.ready(make.webhook());
    expect((await records()).webhooks.map(({ app_id }) => app_id)).to.deep.equal([status?.id]);
  });

  it("signs with another secret than the webhook of the app before, which is gone", async () => {
    await made(make.app({ channels: {} }));
    const before = await signingSecret();
    await unmake(make.app());
    expect((await records()).webhooks).to.deep.equal([]);
    await giveToSecond();
    await herald.apply(make.app({ channels: {} }));
    await herald.ready(make.webhook());
    expect(await signingSecret())
      .to.match(/^whsec_/)
      .and.not.equal(before);
  });
});
