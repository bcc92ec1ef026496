import { expect } from "chai";
import { announcer } from "#core/queue/announce.ts";
import { subjects } from "#core/queue/subjects.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

describe("operator: what a dispatcher finds out about an endpoint", () => {
  let herald: Installation;

  before(async () => {
    herald = await installation();
    await herald.start(); // its next resync is ten minutes away
  });
  after(() => herald.close());

  it("is reported by the resource as soon as it is announced", async () => {
    const make = manifests(herald);
    const objects = [make.namespace, make.plan(), make.tenant(), make.iosSecret(), make.app(), make.webhook()];
    for (const object of objects) await herald.apply(object);
    const { status } = await herald.ready(make.webhook());
    const since = new Date("2026-11-01T10:00:00Z");
    const { changed } = announcer({ nats: herald.nats, subjects: subjects(herald.id) });
    const found = { status: "failing", failing_since: since } as const;
    await collectionOf<WebhookRow>(herald.db, webhookCollection).updateOne({ _id: status?.id ?? "" }, { $set: found });
    changed(webhookCollection.name, status?.id ?? "");
    await until(async () => (await herald.get(make.webhook()))?.status?.["state"] === "failing", 25_000);
    expect((await herald.get(make.webhook()))?.status?.["failingSince"]).to.equal("2026-11-01T10:00:00.000Z");
  });
});
