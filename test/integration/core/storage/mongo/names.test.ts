import { expect } from "chai";
import { connectMongo } from "#core/storage/mongo/connect.ts";
import { testServers } from "../../../../support/servers/servers.ts";

describe("members that people name", () => {
  it("are read as they were written, also those that every JavaScript object has", async () => {
    const { mongodbUrl: url } = await testServers();
    const mongo = connectMongo({ url, database: `test_names_${process.pid}`, appName: "test", maxPoolSize: 1 });
    const rows = mongo.db.collection<{ _id: number; properties: object }>("rows");
    const names = Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== "__proto__"); // which is refused
    const properties = Object.fromEntries(names.map((name) => [name, [{ list: [name] }]]));
    try {
      await rows.insertOne({ _id: 1, properties });
      expect(await rows.find({ _id: 1 }).toArray()).to.deep.equal([{ _id: 1, properties }]);
      expect(await rows.findOneAndUpdate({ _id: 1 }, { $set: { seen: true } })).to.deep.equal({ _id: 1, properties });
      expect(await rows.aggregate([{ $match: { _id: 1 } }]).next()).to.deep.equal({ _id: 1, properties, seen: true });
    } finally {
      await mongo.db.dropDatabase();
      await mongo.close();
    }
  });
});
