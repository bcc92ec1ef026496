import { expect } from "chai";
import { systemClock } from "#core/domain/clock.ts";
import { revokedTokens } from "#core/storage/api-keys/revoked-tokens.ts";
import { type AppRow, appCollection } from "#core/storage/apps/apps.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { Deposed } from "#core/storage/settings/managed.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { type RemovalRow, removalCollection } from "#core/storage/work/removals.ts";
import { allKinds } from "../../../../operator/kinds/all.ts";
import { cascade } from "../../../../operator/records/cascade.ts";
import type { Base } from "../../../../operator/records/platform.ts";
import { anApiKey, anApp } from "../../../support/rows/fixtures.ts";
import { aWebhook } from "../../../support/rows/webhooks.ts";
import { testDatabase } from "../../../support/servers/database.ts";

describe("operator: what goes with an app or a tenant", () => {
  const db = testDatabase("operator_cascade");
  const app = anApp({ tenant_id: "ten_1" });
  const key = anApiKey({ tenant_id: app.tenant_id }).row;
  const webhook = aWebhook({ tenant_id: app.tenant_id, app_id: app._id });
  const announced: string[] = [];

  before(async () => {
    await db().collection<AppRow>(appCollection.name).insertOne(app);
    await db().collection<{ _id: string }>("api_keys").insertOne(key);
    await db().collection<WebhookRow>("webhooks").insertOne(webhook);
  });

  const counts = async () => {
    const of = async (name: string) => [name, await db().collection(name).countDocuments()] as const;
    return Object.fromEntries(await Promise.all(["api_keys", "webhooks", "removals", "revoked_tokens"].map(of)));
  };
  /** Of a leader whose term is over after so many checks. */
  const led = (checks: number) => {
    let left = checks;
    const check = (): void => {
      if (left-- === 0) throw new Deposed("epoch 1");
    };
    const hint = (subject: string) => announced.push(subject);
    const platform = {
      db: db(),
      fence: { check, epoch: () => 1 },
      clock: systemClock,
      announce: (_collection: string, id: string) => announced.push(id),
      jetstream: {
        nats: { isConnected: () => true, js: { publish: async (subject: string) => hint(subject) } },
        prefix: "t",
      },
    };
    return cascade(platform as unknown as Base, allKinds); // all of it that removing takes
  };
  const outcome = (work: Promise<void>) =>
    work.then(
      () => "done",
      (error: unknown) => (error instanceof Deposed ? "deposed" : String(error)),
    );

  it("stays when the leader was deposed before it went on", async () => {
    const { revoked_tokens: _, ...before } = await counts();
    expect(await outcome(led(0).ofApp(app._id))).to.equal("deposed");
    expect(await outcome(led(0).ofTenant(app.tenant_id))).to.equal("deposed");
    expect(await counts()).to.include(before);
    expect(announced).to.deep.equal([]);
  });

  it("is not written down as to be purged by a leader that was deposed on the way", async () => {
    expect(await outcome(led(1).ofApp(app._id))).to.equal("deposed");
    expect(await counts()).to.include({ webhooks: 0, removals: 0 });
  });

  it("goes while it leads", async () => {
    expect(await outcome(led(Infinity).ofApp(app._id))).to.equal("done");
    expect(await outcome(led(Infinity).ofTenant(app.tenant_id))).to.equal("done");
    expect(await counts()).to.deep.equal({ api_keys: 0, webhooks: 0, removals: 1, revoked_tokens: 1 });
    expect(await revokedTokens(db()).has(key.hashes[0]?.hash ?? "")).to.equal(true);
    expect(await collectionOf<RemovalRow>(db(), removalCollection).findOne({})).to.include({
      _id: app._id,
      kind: "app",
    });
  });
});
