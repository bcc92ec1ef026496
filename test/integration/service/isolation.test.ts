import { expect } from "chai";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { aSubscription, aUser, seed, seedTenant } from "../../support/rows/fixtures.ts";
import { testServers } from "../../support/servers/servers.ts";
import {
  deliveriesOf,
  type Posted,
  post,
  type Sending,
  seedDevices,
  startSending,
} from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";

describe("a message that names another tenant's recipients", function () {
  this.timeout(90_000);
  let sending: Sending;
  let api: SystemProgram;
  let own: SubscriptionRow[];
  let foreign: { externalId: string; userId: string; device: SubscriptionRow };

  before(async () => {
    sending = await startSending(await testServers());
    const { system } = sending;
    [api] = await Promise.all([system.start("apiserver"), system.start("dispatcher")]);
    own = await seedDevices(system, 3);
    const { app } = await seedTenant(system.db);
    const of = { tenant_id: app.tenant_id, app_id: app._id };
    const user = aUser({ ...of, external_id: "shared-name" });
    const device = aSubscription({ ...of, user_id: user._id });
    await seed(system.db, { users: [user], subscriptions: [device] });
    foreign = { externalId: "shared-name", userId: user._id, device };
  });

  after(() => sending?.close());

  const arrivals = ({ token }: SubscriptionRow): number => sending.apns.log.tally("address").get(token) ?? 0;
  const outcomeOf = async ({ status, body }: Posted): Promise<string[]> => {
    expect(status).to.equal(202);
    const message = await sending.system.ended(String(body["id"]), 25_000); // a hint that is lost is published again after 10 s
    return (await deliveriesOf(sending.system, message._id)).map(({ subscription_id }) => subscription_id);
  };

  it("reaches nobody by their ids, and does not tell that they exist", async () => {
    const mine = own[0]?._id;
    const targets = [
      { include_subscription_ids: [mine, foreign.device._id] },
      { include_subscription_ids: [mine], include_external_ids: [foreign.externalId] },
      { include_subscription_ids: [mine], include_aliases: { user_id: [foreign.userId] } },
    ];
    for (const target of targets) {
      const reply = await post(sending.system, api, { target });
      expect(reply.body["recipients_estimate"]).to.equal(1);
      expect(await outcomeOf(reply)).to.deep.equal([mine]);
    }
    expect(arrivals(foreign.device)).to.equal(0);
  });

  it("reaches its own tenant's devices only with `all`", async () => {
    const reached = await outcomeOf(await post(sending.system, api, { target: { all: true } }));
    expect(reached).to.have.members(own.map(({ _id }) => _id));
    expect(arrivals(foreign.device)).to.equal(0);
  });
});
