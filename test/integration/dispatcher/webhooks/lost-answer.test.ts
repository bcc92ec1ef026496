import type { Msg } from "@nats-io/nats-core";
import { expect } from "chai";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import { webhookShares } from "#core/storage/webhooks/shares.ts";
import { until } from "../../../support/until.ts";
import { webhookTests } from "../../../support/webhooks/dispatchers.ts";

type Options = { callback: (error: Error | null, message: Msg) => void };

describe("events of an endpoint whose owner's answers are lost", function () {
  this.timeout(150_000);
  const { db, names, nats, startDispatcher, anEndpoint, events, publish, arrived, deliveriesOf, settled, allTaken } =
    webhookTests("lost_answers");

  /** The connection of a process whose answers to other dispatchers do not arrive. */
  const muted = (holder: string): Nats => {
    const subscribe = (subject: string, { callback }: Options) => {
      const isOwners = subject === names.webhookOwner(holder);
      const mute = (message: Msg): Msg => Object.create(message, { respond: { value: () => true } }) as Msg; // it is one
      return nats().nc.subscribe(subject, {
        callback: (error, message) => callback(error, isOwners ? mute(message) : message),
      });
    };
    const nc = new Proxy(nats().nc, {
      get: (target, member) => (member === "subscribe" ? subscribe : Reflect.get(target, member, target)),
    });
    return { ...nats(), nc };
  };

  it("arrive once, and their messages are acknowledged", async () => {
    await startDispatcher("a");
    await startDispatcher("b", muted("b"));
    const isShared = async (): Promise<boolean> =>
      new Set((await webhookShares(db()).read(new Date())).owners.map(({ holder }) => holder)).size === 2;
    await until(isShared, 20_000);
    const endpoints = await Promise.all(Array.from({ length: 6 }, () => anEndpoint()));
    for (let n = 0; n < 20; n += 4) for (const { app_id: app } of endpoints) await publish(events(app, 4, n));
    for (const endpoint of endpoints) await settled(endpoint);
    await allTaken(100_000); // an answer is waited for for 30 s
    for (const { path } of endpoints) expect(arrived(path)).to.have.length(20);
    for (const endpoint of endpoints) expect(await deliveriesOf(endpoint)).to.have.length(20);
  });
});
