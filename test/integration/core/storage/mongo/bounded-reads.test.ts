import { expect } from "chai";
import { type Collection, type Document, MongoClient } from "mongodb";
import { boundedReads, isOutOfTime } from "#core/storage/mongo/bounded-reads.ts";
import { testServers } from "../../../../support/servers/servers.ts";

describe("reads that serve requests", () => {
  const sent: { name: string; maxTimeMS: unknown }[] = [];
  let client: MongoClient;
  let of: (maxTimeMS: number) => Collection<{ _id: string }>;

  before(async () => {
    const { mongodbUrl } = await testServers();
    client = new MongoClient(mongodbUrl, { monitorCommands: true });
    client.on("commandStarted", ({ commandName: name, command: { maxTimeMS } }) => sent.push({ name, maxTimeMS }));
    of = (maxTimeMS) => boundedReads(client.db("bounded_reads"), maxTimeMS).collection("rows");
    await of(1).insertOne({ _id: "a" });
  });
  after(async () => {
    await client?.db("bounded_reads").dropDatabase();
    await client?.close();
  });

  const reads: Record<string, (rows: Collection<{ _id: string }>) => Promise<unknown>> = {
    find: (rows) => rows.find({ _id: "a" }, { hint: "_id_" }).sort({ _id: 1 }).toArray(),
    "find without a filter": (rows) => rows.find().limit(1).toArray(),
    findOne: (rows) => rows.findOne({ _id: "a" }),
    aggregate: (rows) => rows.aggregate([{ $match: { _id: "a" } }]).toArray(),
    countDocuments: (rows) => rows.countDocuments({ _id: "a" }, { limit: 1 }),
    estimatedDocumentCount: (rows) => rows.estimatedDocumentCount(),
    distinct: (rows) => rows.distinct("_id", { _id: "a" }),
  };
  for (const [name, read] of Object.entries(reads))
    it(`say how long they may take: ${name}`, async () => {
      sent.length = 0;
      await read(of(20_000));
      expect(sent.map(({ maxTimeMS }) => maxTimeMS)).to.deep.equal([20_000]);
    });

  it("are ended by the server, which says so", async () => {
    const numbers: Document[] = [{ $project: { n: { $range: [0, 1_000_000] } } }, { $unwind: "$n" }, { $count: "all" }];
    const error: unknown = await of(5)
      .aggregate(numbers)
      .toArray()
      .catch((error: unknown) => error);
    expect(isOutOfTime(error), String(error)).to.equal(true);
  });

  it("bound no write", async () => {
    sent.length = 0;
    await of(20_000).updateOne({ _id: "a" }, { $set: { n: 1 } });
    expect(sent.map(({ maxTimeMS }) => maxTimeMS)).to.deep.equal([undefined]);
  });
});
