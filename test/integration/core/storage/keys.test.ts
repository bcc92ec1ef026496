import { expect } from "chai";
import type { CommandStartedEvent } from "mongodb";
import { MongoClient } from "mongodb";
import { checkKeys, MissingKeyError } from "#core/storage/keys/check.ts";
import type { SealedCount } from "#core/storage/keys/reseal.ts";
import { keyUseCollection, keyUses } from "#core/storage/keys/uses.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { testServers } from "../../../support/servers/servers.ts";

const now = new Date("2026-11-24T12:00:00Z");
const kids = (...ring: string[]) => ({ ring, lost: [] });
const ofApps = (kid: string, secrets = 7): SealedCount => ({ collection: "apps", kid, secrets, documents: 3 });

describe("a key ring without a key that is in use", () => {
  const db = testDatabase("keys", [keyUseCollection]);
  const start = (ring: string[], lost: string[] = []): Promise<void> => checkKeys(db(), { ring, lost });
  const refusal = (ring: string[], lost: string[] = []): Promise<string> =>
    start(ring, lost).then(
      () => "",
      (error: unknown) => (error instanceof MissingKeyError ? error.message : String(error)),
    );
  const count = (ring: string[], counts: SealedCount[], lost: string[] = []) =>
    keyUses(db()).keep(counts, { ring, lost }, now);

  beforeEach(() => db().collection(keyUseCollection.name).deleteMany({}));

  it("is refused by its name, what it seals and what to do, and is taken once the key is back", async () => {
    await start(["k1"]);
    await count(["k1"], [ofApps("k1"), { collection: "webhooks", kid: "k1", secrets: 2, documents: 1 }]);
    const sealed = "7 secrets in 3 documents of apps, 2 secrets in 1 documents of webhooks";
    expect(await refusal(["k2"])).to.equal(
      `the key ring lacks key k1, which sealed ${sealed} at 2026-11-24T12:00:00.000Z and was the key that seals: ` +
        "put it back into HERALD_KEY_RING, or, if it is lost, name it in HERALD_LOST_KEYS (docs/operations.md#keys)",
    );
    expect(await refusal(["k2", "k1"])).to.equal("");
  });

  it("is refused before anybody has counted, as the key may have sealed something", async () => {
    await start(["k1"]);
    expect(await refusal(["k2"])).to.include("k1, which sealed what nobody has counted yet");
  });

  it("is taken after a whole rotation, when nothing is left", async () => {
    await start(["k1"]);
    await count(["k1"], [ofApps("k1")]);
    for (const ring of [
      ["k1", "k2"],
      ["k2", "k1"],
    ])
      expect(await refusal(ring)).to.equal("");
    await count(["k2", "k1"], [ofApps("k1", 1), ofApps("k2", 6)]);
    expect(await refusal(["k2"])).to.include("k1, which sealed 1 secrets");
    await count(["k2", "k1"], [ofApps("k2")]);
    expect(await refusal(["k2"])).to.equal("");
    await count(["k2"], [ofApps("k2")]);
    expect((await keyUses(db()).all()).map(({ _id }) => _id)).to.deep.equal(["k2"]);
  });

  it("is taken when the key is said to be lost, for as long as something is sealed with it", async () => {
    await start(["k1"]);
    await count(["k1"], [ofApps("k1")]);
    expect(await refusal(["k2"], ["k1"])).to.equal("");
    await count(["k2"], [ofApps("k1", 2), ofApps("k2", 5)], ["k1"]);
    expect(await refusal(["k2"])).to.include("k1, which sealed 2 secrets");
    await count(["k2"], [ofApps("k2")], ["k1"]);
    expect(await refusal(["k2"])).to.equal("");
    expect(await refusal(["k2"], ["k2"])).to.include("is in HERALD_KEY_RING, and named as lost");
  });

  it("is found by a read of the keys' own small documents, of nothing that is sealed", async () => {
    const client = new MongoClient((await testServers()).mongodbUrl, { monitorCommands: true });
    const commands: string[] = [];
    client.on("commandStarted", ({ commandName, command }: CommandStartedEvent) => {
      if (["find", "aggregate", "count", "distinct", "update"].includes(commandName))
        commands.push(`${commandName} ${command[commandName]} ${JSON.stringify(command["filter"] ?? "")}`);
    });
    await checkKeys(client.db(db().databaseName), kids("k1"));
    await client.close();
    expect(commands).to.deep.equal(['find key_uses {"_id":{"$gt":""}}', 'update key_uses ""']);
  });
});
