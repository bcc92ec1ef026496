import { expect } from "chai";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { Endpoint } from "../../../../../dispatcher/webhooks/queue/endpoint.ts";
import { aWebhook } from "../../../../support/rows/webhooks.ts";

const setUp = (find: () => Promise<WebhookRow | null>): Endpoint =>
  new Endpoint(
    {
      endpoints: { find, keyOf: ({ _id }) => ({ id: _id, partition: 0 }) },
      partitions: { fenceOf: () => 0, isOwned: () => true },
      suspensions: { has: () => false },
      requests: { prepare: (row) => ({ row, problem: "not sent to" }) },
      notes: { add: () => undefined, has: () => false },
    },
    aWebhook(),
  );

describe("an endpoint whose row may have changed", () => {
  it("is as it was read after the change", async () => {
    const endpoint = setUp(async () => aWebhook({ paused: true }));
    expect([endpoint.isStale, endpoint.isResting()]).to.deep.equal([false, false]);
    endpoint.changed();
    expect(endpoint.isStale).to.equal(true);
    await endpoint.reread();
    expect([endpoint.isStale, endpoint.isResting()]).to.deep.equal([false, true]);
  });

  it("is to be read again when it changed meanwhile", async () => {
    const endpoint = setUp(async () => {
      endpoint.changed();
      return aWebhook();
    });
    endpoint.changed();
    await endpoint.reread();
    expect(endpoint.isStale).to.equal(true);
  });

  it("is to be read again when the store is away", async () => {
    const endpoint = setUp(() => Promise.reject(new Error("away")));
    endpoint.changed();
    expect(await endpoint.reread().catch((error: Error) => error.message)).to.equal("away");
    expect(endpoint.isStale).to.equal(true);
  });
});
