import { expect } from "chai";
import { type Directory, directory } from "#core/storage/directory.ts";
import { testDatabase } from "../../../support/servers/database.ts";

describe("directory", () => {
  const db = testDatabase("core_directory");
  let nowMs = Date.now();
  let tell: (collection: string, id: string, appId?: string) => void;
  let read: Directory;
  beforeEach(async () => {
    for (const collection of ["apps", "tenants", "plans", "webhooks"]) await db().collection(collection).deleteMany({});
    for (const collection of ["apps", "tenants", "plans"])
      await db().collection<Doc>(collection).insertOne({ _id: "a", name: "old" });
    await db().collection<Doc>("webhooks").insertOne({ _id: "w", app_id: "a", name: "old", status: "active" });
    const changes = { on: (listener: typeof tell) => void (tell = listener) };
    read = directory({ db: db(), changes, clock: { now: () => new Date(nowMs) } });
  });

  const change = async (): Promise<void> => {
    for (const name of ["apps", "tenants", "plans", "webhooks"])
      await db()
        .collection(name)
        .updateMany({}, { $set: { name: "new" } });
  };
  const all = async (): Promise<unknown[]> => {
    const found = await Promise.all([
      read.app("a"),
      read.tenant("a"),
      read.plan("a"),
      read.webhooksOf("a").then(([w]) => w ?? null),
    ]);
    return found.map((row) => (row as { name?: string } | null)?.name);
  };

  it("keeps what it read for 60 s", async () => {
    expect(await all()).to.deep.equal(["old", "old", "old", "old"]);
    await change();
    nowMs += 59_999;
    expect(await all()).to.deep.equal(["old", "old", "old", "old"]);
    nowMs += 1;
    expect(await all()).to.deep.equal(["new", "new", "new", "new"]);
  });

  const announcements = [
    { collection: "apps", id: "a", expect: ["new", "old", "old", "old"] },
    { collection: "tenants", id: "*", expect: ["old", "new", "old", "old"] },
    { collection: "plans", id: "b", expect: ["old", "old", "old", "old"] },
    { collection: "webhooks", id: "w", expect: ["old", "old", "old", "new"] },
    { collection: "*", id: "*", expect: ["new", "new", "new", "new"] },
  ];
  for (const { collection, id, expect: wanted } of announcements) {
    it(`drops ${wanted.filter((name) => name === "new").length} of 4 when ${collection}/${id} is announced`, async () => {
      await all();
      await change();
      tell(collection, id);
      expect(await all()).to.deep.equal(wanted);
    });
  }

  it("drops the endpoints of the app alone whose endpoint was changed, made or removed", async () => {
    await db().collection<Doc>("webhooks").insertOne({ _id: "w_b", app_id: "b", name: "old", status: "active" });
    const namesOf = async (app: string) =>
      (await read.webhooksOf(app)).map((row) => (row as unknown as Doc).name).sort();
    expect([await namesOf("a"), await namesOf("b")]).to.deep.equal([["old"], ["old"]]);
    await change();
    await db().collection<Doc>("webhooks").insertOne({ _id: "w_2", app_id: "a", name: "made", status: "active" });
    tell("webhooks", "w_2", "a");
    expect([await namesOf("a"), await namesOf("b")]).to.deep.equal([["made", "new"], ["old"]]);
    tell("webhooks", "w_b"); // as an older release announces it
    expect(await namesOf("b")).to.deep.equal(["new"]);
  });

  it("answers null, or no endpoint, for what is not there", async () => {
    expect([await read.app("x"), await read.webhooksOf("x")]).to.deep.equal([null, []]);
  });

  it("names disabled endpoints too: what they miss can be recovered", async () => {
    await db()
      .collection("webhooks")
      .updateMany({}, { $set: { status: "disabled" } });
    expect((await read.webhooksOf("a")).map(({ _id, status }) => [_id, status])).to.deep.equal([["w", "disabled"]]);
  });
});

type Doc = { _id: string; name: string; app_id?: string; status?: string };
