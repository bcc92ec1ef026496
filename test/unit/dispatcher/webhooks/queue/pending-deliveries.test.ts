import { expect } from "chai";
import { makeEvent } from "#core/domain/events/make.ts";
import { deliveryOf, written } from "../../../../../dispatcher/webhooks/accept/delivery.ts";
import { type Item, PendingDeliveries } from "../../../../../dispatcher/webhooks/queue/pending-deliveries.ts";
import { readMemory } from "../../../../../dispatcher/webhooks/queue/read-memory.ts";
import { aWebhook } from "../../../../support/rows/webhooks.ts";

const now = new Date("2026-11-21T12:00:00Z");

const anItem = (name: string, { subject = null, attempt = 0, stored = false, sinceMs = 0 } = {}): Item => {
  const facts = { kind: "user.deleted", appId: "app_1", data: {}, at: now, from: [name] } as const;
  const row = deliveryOf(aWebhook(), written(makeEvent({ ...facts, subjectId: subject })), now);
  const settle = Promise.withResolvers<void>();
  return { row: { ...row, attempt }, sinceMs, storing: stored ? Promise.resolve() : undefined, settle };
};

const queueOf = (...items: Item[]): PendingDeliveries => {
  const queue = new PendingDeliveries();
  for (const item of items) queue.add(item);
  return queue;
};

describe("pending deliveries", () => {
  it("gives deliveries in the order in which they came", () => {
    const [a, b] = [anItem("a"), anItem("b")];
    const queue = queueOf(a, b);
    expect([queue.next(), queue.next(), queue.next()]).to.deep.equal([a, b, null]);
  });

  it("gives no other delivery of a subject until the one before has ended", () => {
    const subject = "usr_1" as unknown as null; // the builder's default is null
    const [a, b, c] = [anItem("a", { subject }), anItem("b", { subject }), anItem("c")];
    const queue = queueOf(a, b, c);
    expect([queue.next(), queue.next(), queue.next()]).to.deep.equal([a, c, null]);
    queue.ended(a);
    expect(queue.next()).to.equal(b);
  });

  it("gives retries at most half of the places while first requests wait", () => {
    const firsts = Array.from({ length: 10 }, (_, n) => anItem(`f${n}`));
    const retries = Array.from({ length: 10 }, (_, n) => anItem(`r${n}`, { attempt: 1, stored: true }));
    const queue = queueOf(...firsts, ...retries);
    const begun = Array.from({ length: 10 }, () => queue.next());
    expect(begun.filter((item) => item?.row.attempt === 1)).to.have.length(5);
  });

  it("gives retries every place when nothing else waits", () => {
    const queue = queueOf(...Array.from({ length: 3 }, (_, n) => anItem(`r${n}`, { attempt: 1, stored: true })));
    expect([queue.next(), queue.next(), queue.next()]).to.not.include(null);
  });

  it("gives out what waited too long and is not stored, and removes it", () => {
    const [old, young, stored] = [anItem("a"), anItem("b", { sinceMs: 500 }), anItem("c", { stored: true })];
    const queue = queueOf(old, young, stored);
    expect(queue.takeUnstored(100)).to.deep.equal([old]);
    expect(queue.get(old.row._id)).to.equal(undefined);
    expect(queue.waiting).to.equal(2);
  });

  it("knows a delivery until its outcome is stored", () => {
    const item = anItem("a");
    const queue = queueOf(item);
    queue.next();
    queue.ended(item);
    expect([queue.underWay, queue.get(item.row._id)]).to.deep.equal([0, item]);
    queue.remove(item);
    expect(queue.size).to.equal(0);
  });

  describe("that reads from the store", () => {
    const rows = Array.from({ length: 5 }, (_, n) => ({ ...anItem(`s${n}`).row, payload: "x".repeat(100) }));
    const setUp = () => {
      const memory = readMemory(250);
      return { memory, queue: new PendingDeliveries(memory) };
    };

    it("takes as many as it may have characters, one at least, and the others later", async () => {
      const { queue } = setUp();
      expect(await queue.readFrom(async () => rows, 0, 250)).to.equal(2);
      expect(await queue.readFrom(async () => rows, 0, 1)).to.equal(1);
      expect(await queue.readFrom(async () => rows, 0, 1_000)).to.equal(2);
      expect(queue.waiting).to.equal(5);
    });

    it("leaves out what is being sent, and notes that it was made due anew once its result is stored", async () => {
      const item = anItem("a", { attempt: 1, stored: true });
      const queue = queueOf(item);
      queue.next();
      expect(await queue.readFrom(async () => [item.row], 0, 1_000)).to.equal(0);
      expect(item.isDueAnew).to.equal(undefined);
      expect(await queue.readFrom(async () => [{ ...item.row, attempt: 2 }], 0, 1_000)).to.equal(0);
      expect(item.isDueAnew).to.equal(true);
    });

    it("takes what was made due anew during the read, and not what it read before the result was stored", async () => {
      for (const [attempt, count] of [
        [1, 0],
        [2, 1],
      ] as const) {
        const item = anItem("a", { attempt: 1, stored: true });
        const queue = queueOf(item);
        queue.next();
        const read = async () => {
          queue.ended(item);
          queue.remove(item);
          return [{ ...item.row, attempt }];
        };
        expect(await queue.readFrom(read, 0, 1_000)).to.equal(count);
      }
    });

    it("is forgotten again where it waits, when the endpoint hangs; what is only in memory stays", async () => {
      const { memory, queue } = setUp();
      const usual = memory.page(true);
      const fresh = anItem("fresh");
      queue.add(fresh);
      await queue.readFrom(async () => rows, 0, 1_000_000);
      expect(queue.dropRead()).to.equal(rows.length);
      expect([memory.page(true), queue.size, queue.next()]).to.deep.equal([usual, 1, fresh]);
    });

    it("counts what is in memory until it is removed, in whatever way", async () => {
      const { memory, queue } = setUp();
      const usual = memory.page(true);
      await queue.readFrom(async () => rows, 0, 1_000);
      expect(memory.page(true)).to.be.below(usual);
      for (const item of [queue.next(), queue.next()]) if (item !== null) queue.remove(item);
      expect(memory.page(true)).to.be.below(usual);
      queue.dropWaiting();
      expect([memory.page(true), queue.size]).to.deep.equal([usual, 0]);
    });
  });
});
