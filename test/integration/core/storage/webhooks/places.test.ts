import { expect } from "chai";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { endpointPlaces, spreadFrom, spreadIn } from "#core/storage/webhooks/places.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import { anApp } from "../../../../support/rows/fixtures.ts";
import { placeOf, testPartitioning } from "../../../../support/rows/partitioning.ts";
import { aWebhook } from "../../../../support/rows/webhooks.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

describe("a new endpoint", () => {
  const db = testDatabase("places");
  const app = anApp({ _id: "app_many", tenant_id: "ten_1" });
  const appNow = async (): Promise<AppRow> =>
    (await db().collection<AppRow>("apps").findOne({ _id: app._id })) ?? expect.fail();

  it("has its app spread over four partitions once there are fifty, and is placed in one of them", async () => {
    await db().collection<AppRow>("apps").insertOne(app);
    const rows = collectionOf<WebhookRow>(db(), webhookCollection);
    const others = Array.from({ length: spreadFrom - 1 }, (_, n) => aWebhook({ _id: `whk_${n}`, app_id: app._id }));
    await rows.insertMany(others);
    const { place } = endpointPlaces(db(), testPartitioning);
    expect(await place(app, "whk_50th")).to.deep.equal({});
    expect((await appNow()).webhook_spread).to.equal(undefined);
    await rows.insertOne(aWebhook({ _id: "whk_50th", app_id: app._id }));
    const placed = { partition: placeOf({ _id: "whk_51st", app_id: app._id }, 4) };
    expect(await place(app, "whk_51st")).to.deep.equal(placed);
    expect((await appNow()).webhook_spread).to.equal(4);
    await rows.deleteMany({});
    expect(await place(await appNow(), "whk_51st"), "it only grows").to.deep.equal(placed);
    const spreadOf = spreadIn({ app: appNow });
    expect(await spreadOf(app._id)).to.equal(4);
    expect(await spreadIn({ app: () => Promise.reject(new Error("the store is away")) })(app._id)).to.equal(1);
  });
});
