import { expect } from "chai";
import { type Lease, type LeaseDeps, underLease } from "../../../../dispatcher/work/lease.ts";
import { handClock, noon } from "../../../support/rows/work.ts";
import { until } from "../../../support/until.ts";

const leaseMs = 30_000;
const running = new AbortController().signal;

/** What the work saw of a lease that was taken at noon. */
const seen = <T>(change: Partial<LeaseDeps>, look: (lease: Lease) => T | Promise<T>): Promise<T> =>
  underLease(
    {
      taken: { lease: { holder: "h", until: new Date(noon.getTime() + leaseMs) } },
      termMs: leaseMs,
      extend: async () => true,
      stops: [running],
      clock: handClock(),
      monotonicMs: () => 0,
      ...change,
    },
    async (lease) => look(lease),
  );

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("work under a lease", () => {
  it("is lost at the instant at which the lease in the store runs out, before any timer could fire", async () => {
    const clock = handClock();
    const states = await seen({ clock }, (lease) => {
      const before = [lease.isLost(), lease.isOver()];
      clock.tick(leaseMs - 1);
      const justBefore = lease.isLost();
      clock.tick(1); // as after a SIGSTOP
      return [before, justBefore, lease.isLost(), lease.isOver()];
    });
    expect(states).to.deep.equal([[false, false], false, true, true]);
  });

  it("counts from when the lease was taken, however long it took until the work began", async () => {
    const clock = handClock();
    clock.tick(leaseMs - 5_000); // reading the message and the app
    const extend = () => new Promise<boolean>(() => undefined); // MongoDB hangs
    const isLost = await seen({ clock, extend }, (lease) => {
      clock.tick(5_000);
      return lease.isLost();
    });
    expect(isLost).to.equal(true);
  });

  it("extends at once when much of the lease is gone, and counts from before the request", async () => {
    const clock = handClock();
    clock.tick(15_000);
    const extend = async (now: Date): Promise<boolean> => {
      expect(now).to.deep.equal(new Date(noon.getTime() + 15_000));
      clock.tick(10_000); // it took so long
      return true;
    };
    const states = await seen({ clock, extend }, async (lease) => {
      await turn();
      clock.tick(leaseMs - 10_000 - 1);
      const justBefore = lease.isLost();
      clock.tick(1);
      return [justBefore, lease.isLost()];
    });
    expect(states).to.deep.equal([false, true]);
  });

  it("is lost at once when another has taken over", async () => {
    const clock = handClock();
    clock.tick(15_000);
    const isLost = await seen({ clock, extend: async () => false }, async (lease) => {
      await turn();
      return lease.isLost();
    });
    expect(isLost).to.equal(true);
  });

  it("runs out, though the wall clock is put back", async () => {
    const clock = handClock();
    let ms = 0;
    const states = await seen({ clock, monotonicMs: () => ms }, (lease) => {
      clock.tick(-3_600_000);
      ms = leaseMs - 1;
      const justBefore = lease.isLost();
      ms++;
      return [justBefore, lease.isLost()];
    });
    expect(states).to.deep.equal([false, true]);
  });

  it("is extended for others, too, when the wall clock is put back", async () => {
    const clock = handClock();
    let ms = 0;
    const extended: Date[] = [];
    const extend = async (now: Date): Promise<boolean> => extended.push(now) > 0;
    await seen({ clock, extend, monotonicMs: () => ms, termMs: 60 }, async () => {
      clock.tick(-3_600_000);
      ms = 20;
      await until(() => extended.length > 0);
    });
    expect(extended[0]).to.deep.equal(new Date(noon.getTime() + 20));
  });

  it("is over, but not lost, when the work is to stop", async () => {
    const stops = [running, AbortSignal.abort()];
    expect(await seen({ stops }, (lease) => [lease.isLost(), lease.isOver()])).to.deep.equal([false, true]);
  });
});
