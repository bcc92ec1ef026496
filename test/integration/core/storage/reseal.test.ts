import { expect } from "chai";
import type { Db } from "mongodb";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { type AppRow, appCollection } from "#core/storage/apps/apps.ts";
import { reseal } from "#core/storage/keys/reseal.ts";
import { type SuppressionKeyRow, suppressionKeyCollection } from "#core/storage/suppressions/keys.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import { allAccounts, anApp, testKeyRing } from "../../../support/rows/fixtures.ts";
import { aWebhook } from "../../../support/rows/webhooks.ts";
import { testDatabase } from "../../../support/servers/database.ts";

const keyOf = (kid: string, byte: number) => `${kid}:${Buffer.alloc(32, byte).toString("base64")}`;
const before = keyRing(testKeyRing);
const after = keyRing(`${keyOf("next", 8)}\n${testKeyRing}`);
const signal = new AbortController().signal;

describe("what is sealed, after a new key came first in the key ring", () => {
  const db = testDatabase("reseal");
  const app = anApp({ tenant_id: "ten_1" });
  app.channels = allAccounts(app._id);
  const blank = aWebhook({ tenant_id: "ten_1", app_id: app._id });
  const place = `webhooks/${blank._id}/secret`;
  const webhook: WebhookRow = {
    ...blank,
    secret: before.seal("whsec_new", place),
    previous_secret: { secret: before.seal("whsec_old", place), expires_at: new Date(Date.now() + 1_000_000) },
    headers: [{ name: "X.Y", value: before.seal("Bearer x", `webhooks/${blank._id}/headers/X.Y`) }],
  };
  const context = `suppression_keys/${app._id}`;
  const key = { _id: app._id, tenant_id: "ten_1", app_id: app._id, key: before.seal("k", context) };
  const apps = () => db().collection<AppRow>(appCollection.name);
  const webhooks = () => db().collection<WebhookRow>(webhookCollection.name);
  const keys = () => db().collection<SuppressionKeyRow>(suppressionKeyCollection.name);
  /** The database, where something happens just before the first update of a collection. */
  const interrupted = (name: string, happens: () => Promise<unknown>): Db => {
    const rows = db().collection(name);
    let isFirst = true;
    const updateOne: typeof rows.updateOne = async (...args) => {
      if (isFirst) await happens();
      isFirst = false;
      return rows.updateOne(...args);
    };
    const slow = Object.assign(Object.create(rows), { updateOne });
    return Object.assign(Object.create(db()), {
      collection: (of: string) => (of === name ? slow : db().collection(of)),
    });
  };
  const run = (ring = after, check = () => {}) => reseal({ db: db(), keyRing: ring, check }, signal);

  beforeEach(async () => {
    for (const { rows, row } of [
      { rows: apps(), row: app },
      { rows: webhooks(), row: webhook },
      { rows: keys(), row: key },
    ]) {
      await rows.deleteMany({});
      await (rows as unknown as { insertOne: (one: object) => Promise<unknown> }).insertOne(row); // each is its rows' own
    }
  });

  it("is counted by the key that seals it, and nothing is written while that is the first", async () => {
    const fail = () => expect.fail("nothing is to be written");
    const counts = await run(before, fail);
    expect(counts).to.deep.include({ collection: "webhooks", kid: "test", secrets: 3, documents: 1 });
    expect(counts).to.deep.include({ collection: "suppression_keys", kid: "test", secrets: 1, documents: 1 });
    expect(counts.map(({ kid }) => kid)).to.deep.equal(["test", "test", "test"]);
  });

  it("is sealed by the new one, without any Secret, and means the same", async () => {
    const counts = await run();
    expect(counts.map(({ collection, kid }) => `${collection} ${kid}`)).to.deep.equal([
      "apps next",
      "webhooks next",
      "suppression_keys next",
    ]);
    const alone = keyRing(keyOf("next", 8));
    const { channels, ...rest } = (await apps().findOne())!;
    expect(alone.open(channels.ios_push!.private_key, `apps/${app._id}/ios_push.private_key`)).to.equal("not a key");
    const { channels: _, ...restBefore } = app;
    expect(rest).to.deep.equal(restBefore);
    const { secret, previous_secret: previous, headers } = (await webhooks().findOne())!;
    expect(alone.open(secret, place)).to.equal("whsec_new");
    expect(alone.open(previous!.secret, place)).to.equal("whsec_old");
    expect(alone.open(headers[0]!.value, `webhooks/${webhook._id}/headers/X.Y`)).to.equal("Bearer x");
    expect(alone.open((await keys().findOne())!.key, context)).to.equal("k");
    expect(await run(after, () => expect.fail("nothing is left to write"))).to.deep.equal(counts);
  });

  it("stays as it is, and is counted, while its key is missing", async () => {
    const counts = await run(keyRing(keyOf("next", 8)));
    expect(new Set(counts.map(({ kid }) => kid))).to.have.keys("test");
    expect(await webhooks().findOne()).to.deep.equal(webhook);
  });

  it("is sealed by the new one also where somebody writes it at that moment, and keeps what they wrote", async () => {
    const theirs = { name: "theirs", updated_at: new Date(1) };
    const between = interrupted(webhookCollection.name, () =>
      webhooks().updateOne({ _id: webhook._id }, { $set: theirs }),
    );
    const written = await reseal({ db: between, keyRing: after, check: () => {} }, signal);
    expect(written).to.deep.include({ collection: "webhooks", kid: "next", secrets: 3, documents: 1 });
    expect(await webhooks().findOne()).to.deep.include(theirs);
  });

  it("is left to the next leader by one that was deposed", async () => {
    const deposed = () => {
      throw new Error("deposed");
    };
    expect(await run(after, deposed).then(() => "done", String)).to.include("deposed");
    expect(await keys().findOne()).to.deep.equal(key);
  });
});
