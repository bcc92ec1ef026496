import { expect } from "chai";
import { type QueueHooks, retryDelayMs, type WorkQueue, workQueue } from "../../../../operator/engine/work-queue.ts";

const never = new AbortController().signal;

import { until } from "../../../support/until.ts";

const openQueue = (hooks?: QueueHooks): WorkQueue => {
  const queue = workQueue(hooks);
  queue.open();
  return queue;
};

describe("work queue", () => {
  it("holds a key once, with the highest of the priorities it was added with", async () => {
    const queue = openQueue();
    queue.add("a", "resync");
    queue.add("b", "changed");
    queue.add("a", "new");
    queue.add("a", "changed");
    expect(queue.size()).to.equal(2);
    expect(await queue.next(never)).to.include({ key: "a", priority: "new" });
    expect(await queue.next(never)).to.include({ key: "b", priority: "changed" });
  });

  it("serves new before changed before deleted before resync, first come first served within", async () => {
    const queue = openQueue();
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
    const queue = openQueue();
    queue.add("a", "new");
    await queue.next(never);
    queue.add("a", "changed");
    queue.add("a", "resync");
    expect(queue.size()).to.equal(0);
    queue.done("a");
    expect(await queue.next(never)).to.include({ key: "a", priority: "changed" });
    queue.done("a");
    expect(queue.size()).to.equal(0);
  });

  it("gives a key at once to a worker that waits", async () => {
    const queue = openQueue();
    const next = queue.next(never);
    queue.add("a", "new");
    expect((await next)?.key).to.equal("a");
  });

  it("lets a waiting worker go when its signal aborts", async () => {
    const stop = new AbortController();
    const next = openQueue().next(stop.signal);
    stop.abort();
    expect(await next).to.equal(null);
  });

  it("gives a failed key again, soon and before what is only to be verified", async () => {
    const queue = openQueue();
    queue.addFailed("a");
    queue.add("b", "resync");
    await until(() => queue.size() === 2);
    expect(await queue.next(never)).to.include({ key: "a", priority: "again" });
  });

  it("keeps the sooner of two plans for a key", async () => {
    const queue = openQueue();
    queue.addAfter("a", 60_000);
    queue.addAfter("a", 1);
    queue.addAfter("a", 60_000);
    expect((await queue.next(AbortSignal.timeout(1_000)))?.key).to.equal("a");
    queue.close();
  });

  it("gives a change out next, however many wait to be verified", async () => {
    const queue = openQueue();
    for (let i = 0; i < 10_000; i++) queue.add(`resource-${i}`, "resync");
    for (let i = 0; i < 100; i++) await queue.next(never);
    queue.add("resource-9999", "changed");
    expect(await queue.next(never)).to.include({ key: "resource-9999", priority: "changed" });
    expect(queue.size()).to.equal(9_899);
  });

  it("takes nothing while it is closed, and has forgotten what it held before", async () => {
    const queue = openQueue();
    queue.add("waiting", "new");
    queue.addAfter("planned", 1);
    queue.addFailed("failed");
    queue.close();
    queue.add("late", "new");
    queue.addAfter("late", 0);
    queue.open();
    expect(await queue.next(AbortSignal.timeout(50))).to.equal(null);
  });

  it("begins a key's back-off anew once it is forgotten", async () => {
    const queue = openQueue();
    for (const key of ["a", "a", "a", "a", "a", "b", "b", "b", "b", "b"]) {
      queue.addFailed(key);
      await queue.next(never);
      queue.done(key);
    }
    queue.forget("b");
    queue.addFailed("a");
    queue.addFailed("b");
    expect((await queue.next(never))?.key).to.equal("b");
    expect((await queue.next(never))?.key).to.equal("a");
  });

  it("calls its hooks for keys added once, waited for, worked on and retried", async () => {
    const calls: string[] = [];
    const queue = openQueue({
      onAdd: () => calls.push("added"),
      onStart: () => calls.push("started"),
      onDone: () => calls.push("done"),
      onRetry: () => calls.push("retried"),
    });
    queue.add("a", "new");
    queue.add("a", "changed");
    await queue.next(never);
    queue.addFailed("a");
    queue.done("a");
    await queue.next(never);
    expect(calls).to.deep.equal(["added", "started", "retried", "done", "added", "started"]);
  });

  it("backs off from 5 ms, doubling, to 1000 s", () => {
    expect([1, 2, 3, 10, 19, 50].map(retryDelayMs)).to.deep.equal([5, 10, 20, 2_560, 1_000_000, 1_000_000]);
  });
});
