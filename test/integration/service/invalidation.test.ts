import { expect } from "chai";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import { aSubscription, seed } from "../../support/rows/fixtures.ts";
import { testServers } from "../../support/servers/servers.ts";
import {
  aToken,
  counted,
  deliveriesOf,
  type Sending,
  seedDevices,
  send,
  startMail,
  startSending,
} from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";

const endsMs = 25_000; // a hint that is lost is published again after 10 s

describe("what a provider says of addresses", () => {
  let sending: Sending;
  let api: SystemProgram;
  let dispatcher: SystemProgram;
  let mail: Simulator;

  before(async () => {
    sending = await startSending(await testServers());
    mail = await startMail(sending.system);
    const { start } = sending.system;
    [api, dispatcher] = await Promise.all([start("apiserver"), start("dispatcher")]);
  });

  after(async () => {
    await sending?.close();
    await mail?.stop();
  });

  afterEach(() => {
    sending.apns.script({});
    mail.script({});
  });

  it("invalidates a subscription whose token the provider no longer knows", async () => {
    const { system } = sending;
    const devices = [...(await seedDevices(system, 1, { token: aToken("dead") })), ...(await seedDevices(system, 1))];
    const ids = devices.map(({ _id }) => _id);
    sending.apns.script({ answers: [{ address_prefix: "dead", status: 410, reason: "Unregistered" }] });
    const message = await system.ended(await send(system, api, { target: { include_subscription_ids: ids } }), endsMs);
    expect(message.status).to.equal("completed");
    expect(message.counts).to.include({ targeted: 2, sent: 1, failed: 1 });
    const row = await system.db.collection<SubscriptionRow>("subscriptions").findOne({ _id: ids[0] ?? "" });
    expect(row).to.include({ status: "invalid", status_reason: "token_invalid" });
    const delivery = (await deliveriesOf(system, message._id)).find((one) => one.subscription_id === ids[0]);
    expect(delivery).to.include({ status: "failed", error_code: "TOKEN_UNREGISTERED" });
  });

  for (const { it: name, row, refuse } of [
    {
      it: "APNs refuses all of many tokens",
      row: (n: number) => ({ channel: "ios_push" as const, token: aToken(`bad${n % 10}`) }),
      refuse: () =>
        sending.apns.script({ answers: [{ address_prefix: "bad", status: 400, reason: "BadDeviceToken" }] }),
    },
    {
      it: "a mail server knows none of many mailboxes",
      row: (n: number) => ({ channel: "email" as const, token: `user${n}@example.test` }),
      refuse: () => mail.script({ answers: [{ status: 550, reason: "5.1.1 no such user" }] }),
    },
    {
      it: "a mail server has us on its black list",
      row: (n: number) => ({ channel: "email" as const, token: `user${n}@other.test` }),
      refuse: () => mail.script({ answers: [{ status: 550, reason: "your address is on our black list" }] }),
    },
  ])
    it(`invalidates nobody when ${name}`, async () => {
      const { system } = sending;
      const heldBefore = await held();
      const rows = Array.from({ length: 60 }, (_, n) =>
        aSubscription({ tenant_id: system.tenantId, app_id: system.app._id, ...row(n) }),
      );
      await seed(system.db, { subscriptions: rows });
      const ids = rows.map(({ _id }) => _id);
      refuse();
      const body = { target: { include_subscription_ids: ids }, email_subject: "Hello", email_body: "<p>Hello</p>" };
      const message = await system.ended(await send(system, api, body), endsMs);
      expect((message.counts.failed ?? 0) + (message.counts.errored ?? 0)).to.equal(60);
      const left = { _id: { $in: ids }, status: "subscribed" as const };
      expect(await system.db.collection<SubscriptionRow>("subscriptions").countDocuments(left)).to.equal(60);
      expect((await held()) - heldBefore).to.equal(message.counts.failed ?? 0);
    });

  /** Addresses that the dispatchers doubted to be gone. */
  const held = (): Promise<number> => counted([dispatcher], "herald_invalidations_held_total");
});
