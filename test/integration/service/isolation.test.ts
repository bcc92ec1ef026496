import { expect } from "chai";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import { aSubscription, aUser, seed, seedTenant } from "../../support/rows/fixtures.ts";
import { testServers } from "../../support/servers/servers.ts";
import {
  deliveriesOf,
  type Posted,
  post,
  type Sending,
  seedDevices,
  send,
  startMail,
  startSending,
} from "../../support/system/sending.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

describe("a tenant's message beside another tenant", () => {
  let sending: Sending;
  let api: SystemProgram;
  let dispatcher: SystemProgram;
  let mail: Simulator | undefined;
  let own: SubscriptionRow[];
  let foreign: { externalId: string; userId: string; device: SubscriptionRow };

  before(async () => {
    sending = await startSending(await testServers());
    const { system } = sending;
    [api, dispatcher] = await Promise.all([system.start("apiserver"), system.start("dispatcher")]);
    own = await seedDevices(system, 3);
    const { app } = await seedTenant(system.db);
    const of = { tenant_id: app.tenant_id, app_id: app._id };
    const user = aUser({ ...of, external_id: "shared-name" });
    const device = aSubscription({ ...of, user_id: user._id });
    await seed(system.db, { users: [user], subscriptions: [device] });
    foreign = { externalId: "shared-name", userId: user._id, device };
  });

  after(async () => {
    await sending?.close();
    await mail?.stop();
  });

  const arrivals = ({ token }: SubscriptionRow): number => sending.apns.log.tally("address").get(token) ?? 0;
  const outcomeOf = async ({ status, body }: Posted): Promise<string[]> => {
    expect(status).to.equal(202);
    const message = await sending.system.ended(String(body["id"]), 25_000); // a hint that is lost is published again after 10 s
    return (await deliveriesOf(sending.system, message._id)).map(({ subscription_id }) => subscription_id);
  };

  it("reaches none of the other's people by their ids, and does not tell that they exist", async () => {
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

  describe("whose mails wait for a server that does not answer", () => {
    let slow: System;
    let addresses: string[];

    before(async () => {
      slow = await sending.system.another();
      mail = await startMail(slow);
      mail.script({ delay_ms: 80_000 }); // longer than any test here may take
      addresses = await mailboxes(slow, 501); // one more than a chunk has
    });

    it("is sent in chunks", async () => {
      for (let n = 0; n < 3; n++) await send(slow, api, aMail(addresses));
      await until(async () => (await inHand("deliver")) >= 4); // all that a tenant may have at once
      const many = await seedDevices(sending.system, 501);
      expect(await outcomeOf(await post(sending.system, api, { target: targetOf(many) }))).to.have.length(501);
    });

    it("is sent in its turn", async () => {
      for (const id of addresses.slice(0, 40)) await send(slow, api, aMail([id]));
      await until(async () => (await inHand("plan")) >= 32); // the same
      expect(await outcomeOf(await post(sending.system, api, { target: targetOf(own) }))).to.have.length(3);
    });
  });

  const mailboxes = async ({ db, tenantId, app }: System, count: number): Promise<string[]> => {
    const of = { tenant_id: tenantId, app_id: app._id, channel: "email" } as const;
    const subscriptions = Array.from({ length: count }, (_, n) => aSubscription({ ...of, token: `p${n}@slow.test` }));
    await seed(db, { subscriptions });
    return subscriptions.map(({ _id }) => _id);
  };
  const aMail = (ids: readonly string[]) => ({
    target: { include_subscription_ids: ids },
    email_subject: "Hello",
    email_body: "<p>Hello</p>",
  });
  const targetOf = (devices: readonly SubscriptionRow[]) => ({
    include_subscription_ids: devices.map(({ _id }) => _id),
  });
  /** Messages of a consumer that the dispatcher has in hand. */
  const inHand = async (consumer: string): Promise<number> => {
    const page = await (await fetch(`${dispatcher.healthUrl}/metrics`)).text();
    return Number(new RegExp(`^herald_queue_in_flight{consumer="${consumer}",.*} (\\d+)$`, "m").exec(page)?.[1]);
  };
});
