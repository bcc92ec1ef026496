import { expect } from "chai";
import { makeEvent } from "#core/domain/events/make.ts";
import { deliveryOf, written } from "../../../../../dispatcher/webhooks/accept/delivery.ts";
import { Backlog } from "../../../../../dispatcher/webhooks/queue/backlog.ts";
import { PendingDeliveries } from "../../../../../dispatcher/webhooks/queue/pending-deliveries.ts";
import { readMemory } from "../../../../../dispatcher/webhooks/queue/read-memory.ts";
import { aWebhook } from "../../../../support/rows/webhooks.ts";

const now = new Date("2026-11-21T12:00:00Z");
const bodyCharacters = 64_000;

const aDelivery = (n: number) => {
  const facts = { kind: "user.deleted", appId: "app_1", subjectId: null, data: {}, at: now, from: [`${n}`] } as const;
  return { ...deliveryOf(aWebhook(), written(makeEvent(facts)), now), payload: "x".repeat(bodyCharacters) };
};

/** How many large deliveries an endpoint queue has in memory after it has read what is due of 100. */
const readBy = async (isTrusted: boolean): Promise<number> => {
  const rows = Array.from({ length: 100 }, (_, n) => aDelivery(n));
  const memory = readMemory();
  const due = async (_: string, { status, limit }: { status: string; limit: number }) =>
    status === "pending" ? rows.slice(0, limit) : [];
  const backlog = new Backlog({ deliveries: { due, nextDueAt: async () => null }, memory }, "whk_1", now.getTime());
  const pending = new PendingDeliveries(memory);
  await backlog.read(pending, now, isTrusted);
  return pending.size;
};

describe("the backlog of an endpoint", () => {
  it("is read a large page at a time when the endpoint answers, and two bodies otherwise", async () => {
    expect([await readBy(true), await readBy(false)]).to.deep.equal([20, 2]);
  });
});
