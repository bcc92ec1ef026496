import { expect } from "chai";
import { type CommandStartedEvent, type Document, MongoClient } from "mongodb";
import { systemClock } from "#core/domain/clock.ts";
import { eventPeople, type Named } from "#core/storage/events/people.ts";
import { subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { userCollection } from "#core/storage/people/users.ts";
import { aSubscription, aUser, seed } from "../../../../support/rows/fixtures.ts";

import { testDatabase } from "../../../../support/servers/database.ts";
import { testServers } from "../../../../support/servers/servers.ts";

const nobody: Named = { user_id: null, external_id: null, subscription_id: null };
const apps = ["app_1", "app_2"].map((appId) => ({ tenantId: `ten_${appId}`, appId }));

describe("people whom events of several apps name", () => {
  const db = testDatabase("event_people", [userCollection, subscriptionCollection]);
  const everybody = apps.map(({ tenantId: tenant_id, appId: app_id }) => {
    const ada = aUser({ tenant_id, app_id, external_id: "ada" });
    ada.alias_keys.push(`user_id:usr_before_${app_id}`); // it was merged into her
    const phone = aSubscription({ tenant_id, app_id, user_id: ada._id, external_id: "ada" });
    return { ada, phone };
  });
  let client: MongoClient;
  const sent: Document[] = [];

  before(async () => {
    client = await MongoClient.connect((await testServers()).mongodbUrl, { monitorCommands: true });
    client.on("commandStarted", ({ command }: CommandStartedEvent) => void (command["find"] && sent.push(command)));
    for (const { ada, phone } of everybody) await seed(db(), { users: [ada], subscriptions: [phone] });
  });
  beforeEach(() => sent.splice(0));
  after(() => client.close());

  const people = () => eventPeople(client.db(db().databaseName), systemClock);
  const names = ({ ada, phone }: (typeof everybody)[number]): Named[] => [
    { ...nobody, external_id: "ada" },
    { ...nobody, user_id: ada._id },
    { ...nobody, user_id: `usr_before_${ada.app_id}` },
    { ...nobody, subscription_id: phone._id },
  ];

  it("are found in one query for each way of naming them, by their indexes", async () => {
    const { load, find } = people();
    await load(apps.map((of, n) => ({ ...of, named: [...names(everybody[n]!), { ...nobody, external_id: "eve" }] })));
    for (const one of everybody) {
      const found = names(one).map((named) => find(one.ada.app_id, named));
      const expected = { userId: one.ada._id, externalId: "ada" };
      expect(found).to.deep.equal(names(one).map(() => expected));
      expect(find(one.ada.app_id, { ...nobody, external_id: "eve" })).to.equal(null);
    }
    expect(sent.map((command) => command["find"])).to.have.members(["users", "users", "users", "subscriptions"]);
    const hints = sent.map((command) => command["hint"] ?? Object.keys(command["filter"]).join());
    expect(hints).to.have.members(["alias", "alias", "app_id,tenant_id,_id", "app_id,tenant_id,_id"]);
  });

  it("are remembered, and are asked for again when they were not found", async () => {
    const { load } = people();
    const named = [{ ...nobody, external_id: "ada" }];
    const all = apps.map((of) => ({ ...of, named }));
    await load(all);
    await load(all);
    expect(sent).to.have.length(1);
    for (let n = 0; n < 2; n++) await load(apps.map((of) => ({ ...of, named: [{ ...nobody, external_id: "eve" }] })));
    expect(sent).to.have.length(3);
  });

  it("are nobody to another app, and to another tenant", async () => {
    const { load, find } = people();
    const [first, second] = everybody;
    const [, { tenantId, appId }] = apps as [unknown, (typeof apps)[number]];
    await load([{ tenantId, appId, named: names(first!) }]);
    expect(names(first!).map((named) => find(appId, named)?.userId)).to.deep.equal([
      second?.ada._id, // the same name
      undefined,
      undefined,
      undefined,
    ]);
    const elsewhere = people();
    const [{ tenantId: others }] = apps as [(typeof apps)[number]];
    await elsewhere.load([
      { tenantId: others, appId, named: names(second!) },
      { ...apps[0]!, named: names(first!) },
    ]);
    expect(names(second!).map((named) => elsewhere.find(appId, named))).to.deep.equal([null, null, null, null]);
  });
});
