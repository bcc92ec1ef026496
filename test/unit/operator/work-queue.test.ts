import { expect } from "chai";
import { retryDelayMs, workQueue } from "../../../operator/engine/work-queue.ts";

const never = new AbortController().signal;

describe("work queue", () => {
  it("holds a key once, in the soonest of the lanes it was added to", async () => {
    const queue = workQueue();
    queue.add("a", "resync");
    queue.add("b", "changed");
    queue.add("a", "new");
    queue.add("a", "changed");
    expect(queue.size()).to.equal(2);
    expect(await queue.next(never)).to.include({ key: "a", lane: "new" });
    expect(await queue.next(never)).to.include({ key: "b", lane: "changed" });
  });

  it("serves new before changed before deleted before resync, first come first served within", async () => {
    const queue = workQueue();
    queue.add("resync-1", "resync");
    queue.add("deleted-1", "deleted");
    queue.add("changed-1", "changed");
    queue.add("new-1", "new");
    queue.add("new-2", "new");
    const order = [];
    for (let i = 0; i < 5; i++) order.push((await queue.next(never))?.key);
    expect(order).to.deep.equal(["new-1", "new-2", "changed-1", "deleted-1", "resync-1"]);
  });

  it("does not give a key out twice at a time, and gives it again when it was added meanwhile", async () => {
    const queue = workQueue();
    queue.add("a", "new");
    await queue.next(never);
    queue.add("a", "changed");
    queue.add("a", "resync");
    expect(queue.size()).to.equal(0);
    queue.done("a");
    expect(await queue.next(never)).to.include({ key: "a", lane: "changed" });
    queue.done("a");
    expect(queue.size()).to.equal(0);
  });

  it("wakes a worker that waits", async () => {
    const queue = workQueue();
    const next = queue.next(never);
    queue.add("a", "new");
    expect((await next)?.key).to.equal("a");
  });

  it("lets a waiting worker go when its signal aborts", async () => {
    const stop = new AbortController();
    const next = workQueue().next(stop.signal);
    stop.abort();
    expect(await next).to.equal(null);
  });

  it("gives a failed key again, and soon", async () => {
    const queue = workQueue();
    queue.addFailed("a");
    expect((await queue.next(AbortSignal.timeout(1_000)))?.key).to.equal("a");
  });

  it("keeps the sooner of two plans for a key", async () => {
    const queue = workQueue();
    queue.addAfter("a", 60_000);
    queue.addAfter("a", 1);
    queue.addAfter("a", 60_000);
    expect((await queue.next(AbortSignal.timeout(1_000)))?.key).to.equal("a");
    queue.clear();
  });

  it("backs off from 5 ms, doubling, to 1000 s", () => {
    expect([1, 2, 3, 10, 19, 50].map(retryDelayMs)).to.deep.equal([5, 10, 20, 2_560, 1_000_000, 1_000_000]);
  });
});
