import { expect } from "chai";
import type { Db } from "mongodb";
import { storedData } from "#core/storage/data.ts";
import type { CollectionSpec, Person } from "#core/storage/mongo/collection.ts";

const now = new Date("2026-03-01T12:00:00Z");
const person: Person = {
  tenantId: "t",
  appId: "a",
  userId: "usr_1",
  keys: new Set(),
  at: now,
  isLast: true,
  isErased: false,
};

const aCollection = (name: string, change: Partial<CollectionSpec>): CollectionSpec => ({
  name,
  indexes: [],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { kept: "for a test" },
  erasure: { kept: "for a test" },
  retention: { kept: "for a test" },
  ...change,
});

describe("stored data", () => {
  let did: unknown[] = [];
  beforeEach(() => {
    did = [];
  });

  /** Notes what is asked of each collection, which has two documents at first. */
  const db = () => {
    const left = new Map<string, string[]>();
    const collection = (name: string) => ({
      find: (filter: object, { hint }: { hint?: string }) => ({
        toArray: async () => {
          did.push([name, filter, hint]);
          return (left.get(name) ?? ["1", "2"]).map((_id) => ({ _id }));
        },
      }),
      deleteMany: async (filter: object) => {
        did.push([name, filter]);
        left.set(name, []);
      },
    });
    return { collection } as unknown as Db; // what of it is used
  };
  const waits = (name: string, count: number) => async (): Promise<number> => {
    did.push(name);
    return count;
  };

  it("of an app goes by the index that its collection names, then by functions, which say how many must wait", async () => {
    const specs = [
      aCollection("messages", { appRemoval: { remove: waits("messages", 2) } }),
      aCollection("exports", { appRemoval: { remove: waits("exports", 1) } }),
      aCollection("users", { appRemoval: { index: "app" } }),
      aCollection("deliveries", { appRemoval: { with: "messages" } }),
    ];
    expect(await storedData(db(), specs).removeApp("a", now)).to.equal(3);
    expect(did).to.deep.equal([
      ["users", { app_id: "a" }, "app"],
      ["users", { _id: { $in: ["1", "2"] } }],
      "messages",
      "exports",
    ]);
  });

  it("that are a person's own are found by the member that names them", async () => {
    const specs = [
      aCollection("users", { erasure: { member: "_id" } }),
      aCollection("devices", { erasure: { member: "user_id" } }),
      aCollection("tokens", { erasure: { subscription: "subscription_id" } }),
      aCollection("events", { erasure: { erase: waits("events", 1) } }),
    ];
    await storedData(db(), specs).removePerson(person);
    expect(did).to.deep.equal([
      ["subscriptions", { app_id: "a", user_id: "usr_1" }, "user"],
      ["tokens", { app_id: "a", tenant_id: "t", subscription_id: { $in: ["1", "2"] } }],
      ["users", { _id: "usr_1", app_id: "a", tenant_id: "t" }],
      ["devices", { user_id: "usr_1", app_id: "a", tenant_id: "t" }],
    ]);
  });

  it("in which a person is named are erased by each collection, which says how many must wait", async () => {
    const specs = [
      aCollection("users", { erasure: { member: "_id" } }),
      aCollection("events", { erasure: { erase: waits("events", 1) } }),
      aCollection("history", { erasure: { erase: waits("history", 2) } }),
    ];
    expect(await storedData(db(), specs).erasePerson(person)).to.equal(3);
    expect(did).to.deep.equal(["events", "history"]);
  });
});
