import { type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { expect } from "chai";
import { type Collection, type Document, MongoBulkWriteError, MongoClient, MongoServerError } from "mongodb";
import { bin } from "../../../dev/files/paths.ts";
import { command } from "../../../dev/processes/run-command.ts";
import { testServers } from "../../support/servers/servers.ts";
import { until } from "../../support/until.ts";

// A probe of what Herald relies on: the extension behind the MongoDB protocol moves, and users bring their own servers.
const unique = `probe-${process.pid}-${Date.now()}`;

describe("the MongoDB side", () => {
  let client: MongoClient;
  let rows: Collection<Document & { _id: number }>;

  before(async () => {
    client = await MongoClient.connect((await testServers()).mongodbUrl);
  });
  after(async () => {
    await client.db(unique).dropDatabase();
    await client.close();
  });
  beforeEach(async () => {
    rows = client.db(unique).collection("rows");
    await rows.drop();
  });

  it("refuses a second document with the same unique key", async () => {
    await rows.createIndex({ app: 1, key: 1 }, { unique: true });
    await rows.insertOne({ _id: 1, app: "a", key: "k" });
    expect(await codeOf(rows.insertOne({ _id: 2, app: "a", key: "k" }))).to.equal(11_000);
    expect(await codeOf(rows.insertOne({ _id: 3, app: "b", key: "k" }))).to.equal(null);
  });

  it("holds a partial unique index to the documents it names", async () => {
    const filter = { partialFilterExpression: { key: { $type: "string" as const } } };
    await rows.createIndex({ key: 1 }, { unique: true, ...filter });
    await rows.insertMany([
      { _id: 1, key: null },
      { _id: 2, key: null },
      { _id: 3, key: "k" },
    ]);
    expect(await codeOf(rows.insertOne({ _id: 4, key: "k" }))).to.equal(11_000);
  });

  it("holds a unique index to every element of an array", async () => {
    await rows.createIndex({ aliases: 1 }, { unique: true });
    await rows.insertOne({ _id: 1, aliases: ["x", "y"] });
    expect(await codeOf(rows.insertOne({ _id: 2, aliases: ["y", "z"] }))).to.equal(11_000);
    expect(await codeOf(rows.insertOne({ _id: 3, aliases: ["z"] }))).to.equal(null);
  });

  it("inserts the rest of an unordered batch around duplicates and says which they were", async () => {
    await rows.insertMany([{ _id: 1 }, { _id: 3 }]);
    const batch = [1, 2, 3, 4].map((id) => ({ _id: id }));
    const error = await rows.insertMany(batch, { ordered: false }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(MongoBulkWriteError);
    const { result, writeErrors } = error as MongoBulkWriteError; // just checked
    expect(result.insertedCount).to.equal(2);
    expect([writeErrors].flat().map(({ index, code }) => [index, code])).to.deep.equal([
      [0, 11_000],
      [2, 11_000],
    ]);
    expect(await rows.countDocuments()).to.equal(4);
  });

  it("updates the first document of an order, or makes one", async () => {
    await rows.insertMany([
      { _id: 2, state: "due", at: 20 },
      { _id: 1, state: "due", at: 10 },
    ]);
    const options = { sort: { at: 1 }, returnDocument: "after" } as const;
    const taken = await rows.findOneAndUpdate(
      { state: "due" },
      { $set: { state: "held" }, $inc: { fence: 1 } },
      options,
    );
    expect(taken).to.deep.equal({ _id: 1, state: "held", at: 10, fence: 1 });
    const made = await rows.findOneAndUpdate({ _id: 9 }, { $setOnInsert: { at: 0 } }, { ...options, upsert: true });
    expect(made).to.deep.equal({ _id: 9, at: 0 });
  });

  it("lets one of many concurrent takers have a document", async () => {
    await rows.insertOne({ _id: 1, state: "due" });
    const take = () => rows.findOneAndUpdate({ _id: 1, state: "due" }, { $set: { state: "held" } });
    const taken = await Promise.all(Array.from({ length: 20 }, take));
    expect(taken.filter((row) => row !== null)).to.have.length(1);
  });

  it("answers a keyset page from an index, without a sort", async () => {
    await rows.createIndex({ app: 1, at: -1, _id: -1 });
    await rows.insertMany(Array.from({ length: 5000 }, (_, id) => ({ _id: id, app: `app-${id % 5}`, at: id })));
    const page = rows.find({ app: "app-1", at: { $lt: 4000 } }).limit(10);
    expect(await sorts(page.clone().sort({ at: -1, _id: -1 }).explain())).to.equal(false);
    expect((await page.clone().sort({ at: -1, _id: -1 }).toArray()).map((row) => row["at"])).to.deep.equal(
      Array.from({ length: 10 }, (_, n) => 3996 - 5 * n),
    );
    expect(await sorts(page.clone().sort({ other: -1 }).explain()), "a page that no index helps").to.equal(true);
  });

  it("keeps a time to live for an index and changes it", async () => {
    await rows.createIndex({ at: 1 }, { name: "ttl", expireAfterSeconds: 3600 });
    await client.db(unique).command({ collMod: "rows", index: { name: "ttl", expireAfterSeconds: 60 } });
    const ttl = (await rows.indexes()).find(({ name }) => name === "ttl");
    expect(ttl?.["expireAfterSeconds"]).to.equal(60);
  });
});

describe("JetStream", () => {
  let connection: NatsConnection;
  let manager: JetStreamManager;

  before(async () => {
    connection = await connect({ servers: (await testServers()).natsUrl });
    manager = await jetstreamManager(connection);
  });
  after(async () => {
    await manager.streams.delete(unique);
    await connection.close();
  });

  it("refuses one subject's message above its limit and takes the next subject's", async () => {
    await manager.streams.add({
      name: unique,
      subjects: [`${unique}.>`],
      retention: "workqueue",
      discard: "new",
      discard_new_per_subject: true,
      max_msgs_per_subject: 2,
    });
    const publish = (subject: string) => jetstream(connection).publish(`${unique}.${subject}`, "work");
    await publish("a");
    await publish("a");
    expect(await codeOf(publish("a"))).to.equal(10_077);
    expect(await codeOf(publish("b"))).to.equal(null);
  });

  it("stores a message once per message id", async () => {
    const [first, second] = [
      await jetstream(connection).publish(`${unique}.once`, "work", { msgID: "same" }),
      await jetstream(connection).publish(`${unique}.once`, "work", { msgID: "same" }),
    ];
    expect([first.duplicate, second.duplicate]).to.deep.equal([false, true]);
  });
});

describe("the Kubernetes API", () => {
  const kind = `Probe${Date.now()}`;
  const plural = `${kind.toLowerCase()}s`;
  const group = "probe.herald.dev";
  const object = (name: string, url: string) => ({
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name },
    spec: { url },
  });
  const isServed = () =>
    kubectl(["get", `${plural}.${group}`]).then(
      () => true,
      () => false,
    );

  after(() => kubectl(["delete", "crd", `${plural}.${group}`, "--ignore-not-found"]));

  it("enforces the CEL rules of a custom resource", async () => {
    await kubectl(["apply", "-f", "-"], definition({ kind, plural, group }));
    await kubectl(["wait", "--for=condition=Established", `crd/${plural}.${group}`]);
    await until(isServed, 20_000); // discovery follows, a moment later
    await kubectl(["apply", "-f", "-"], object("good", "https://example.com/hook"));
    const refusal = await kubectl(["apply", "-f", "-"], object("bad", "http://example.com")).catch(String);
    expect(refusal).to.contain("url must be https");
  });

  it("gives a ServiceAccount a token and knows it again", async () => {
    await kubectl(["create", "serviceaccount", unique]);
    const token = (await kubectl(["create", "token", unique])).trim();
    const whoami = await kubectl(["auth", "whoami", "--token", token, "-o", "jsonpath={.status.userInfo.username}"]);
    await kubectl(["delete", "serviceaccount", unique]);
    expect(whoami).to.equal(`system:serviceaccount:default:${unique}`);
  });
});

const codeOf = async (work: Promise<unknown>): Promise<number | string | null> => {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof MongoServerError) return error.code ?? -1;
    return (error as { code?: number }).code ?? -1; // JetStream's errors carry the server's code
  }
};

/** Says `Sort` in PostgreSQL's words, `SORT` in MongoDB's. */
const sorts = async (explained: Promise<Document>): Promise<boolean> =>
  /"(Sort|SORT)"/.test(JSON.stringify(await explained));

const kubectl = async (args: string[], input: object = {}): Promise<string> => {
  const { kubeconfig } = await testServers();
  return command([bin("kubectl"), "--kubeconfig", kubeconfig, ...args], { input: JSON.stringify(input) });
};

const definition = ({ kind, plural, group }: { kind: string; plural: string; group: string }): object => {
  const rule = { rule: "isURL(self.url) && url(self.url).getScheme() == 'https'", message: "url must be https" };
  const spec = { type: "object", properties: { url: { type: "string" } }, "x-kubernetes-validations": [rule] };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural, singular: plural.slice(0, -1) },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
};
