import { expect } from "chai";
import { testTiming } from "../../../support/suite/soak.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Started } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

type Lease = { metadata: object; spec: { holderIdentity?: string; leaseTransitions?: number; renewTime?: string } };

describe("operator: the Lease", () => {
  let herald: Installation;

  beforeEach(async () => {
    herald = await installation();
  });
  afterEach(() => herald.close());

  const path = () => `/apis/coordination.k8s.io/v1/namespaces/default/leases/${herald.id}`;
  const soon = (): AbortSignal => AbortSignal.timeout(60_000);
  const lease = (): Promise<Lease> => herald.client.call<Lease>({ method: "GET", path: path() }, soon());
  const change = (body: object): Promise<unknown> =>
    herald.client.call({ method: "PATCH", path: path(), body }, soon());
  const terms = ({ log }: Started): number => log().split("leadership.taken").length - 1;
  const requests = async ({ metrics }: Started): Promise<number> =>
    (await metrics.apiRequests.get()).values.reduce((sum, { value }) => sum + value, 0);
  /** Waits until there has been no request for 3 s. */
  const quiet = async (started: Started): Promise<void> => {
    let [count, since] = [0, performance.now()];
    await until(async () => {
      const now = await requests(started);
      if (now !== count) [count, since] = [now, performance.now()];
      return count > 0 && performance.now() - since > 3_000;
    }, 30_000);
  };
  const leading = async (started: Started): Promise<Started> => {
    await until(() => terms(started) > 0, 25_000);
    return started;
  };
  const shifted = (ms: number) => ({ now: () => new Date(Date.now() + ms) });
  const microTime = (at: number): string => new Date(at).toISOString().replace("Z", "000Z");

  for (const skewMs of [-60_000, 60_000]) {
    const skew = `a minute ${skewMs < 0 ? "behind" : "ahead"}`;

    it(`stays with a leader whose clock is ${skew}, for as long as it renews it`, async () => {
      const leader = await leading(await herald.start({ clock: shifted(skewMs) }));
      const other = await herald.start();
      const before = (await lease()).spec;
      expect(Math.abs(Date.parse(before.renewTime ?? "") - Date.now() - skewMs)).to.be.below(10_000);
      const endsAt = performance.now() + 1.5 * testTiming.leader.leaseMs;
      await until(() => performance.now() > endsAt, 4 * testTiming.leader.leaseMs);
      expect(terms(other)).to.equal(0);
      expect((await lease()).spec).to.include({ holderIdentity: before.holderIdentity, leaseTransitions: 1 });
      await leader.stop();
      await until(() => terms(other) === 1, 25_000);
      expect((await lease()).spec.leaseTransitions).to.equal(2);
    });

    it(`of a dead leader whose clock was ${skew} is taken when it ran out by our own clock`, async () => {
      const renewTime = microTime(Date.now() + skewMs);
      const spec = { holderIdentity: "dead", leaseDurationSeconds: 3, renewTime, acquireTime: renewTime };
      const body = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: herald.id }, spec };
      await herald.client.call({ method: "POST", path: path().replace(/\/[^/]+$/, ""), body }, soon());
      const started = await herald.start();
      const startedAt = performance.now(); // it has not seen the Lease before
      await leading(started); // long before the minute is over
      expect(performance.now() - startedAt).to.be.at.least(3_000);
    });
  }

  it("makes epochs grow with every taking, also after it was given back or deleted", async () => {
    const epochs: (number | undefined)[] = [];
    for (const end of ["given back", "deleted", ""]) {
      const started = await leading(await herald.start());
      const { plan } = manifests(herald);
      await herald.apply(plan());
      await herald.ready(plan());
      epochs.push((await lease()).spec.leaseTransitions);
      await started.stop();
      if (end === "deleted") await herald.client.call({ method: "DELETE", path: path() }, soon());
    }
    expect(epochs).to.deep.equal([1, 2, 3]);
    const row = await herald.db.collection<{ _id: string; managed: { epoch: number } }>("plans").findOne({});
    expect(row?.managed.epoch).to.equal(3);
  });

  it("stays with its holder when a person writes an annotation on it, and goes when another's name is on it", async () => {
    const started = await leading(await herald.start());
    await change({ metadata: { annotations: { note: "seen" } } });
    const { renewTime } = (await lease()).spec;
    await until(async () => (await lease()).spec.renewTime !== renewTime, 25_000);
    expect(terms(started)).to.equal(1);
    await change({ spec: { holderIdentity: "somebody-else" } });
    await until(() => started.log().includes("leadership.ended"), 25_000);
  });

  it("costs its holder a request each time that it is renewed, and who stands by hardly any", async () => {
    const leader = await leading(await herald.start({ settings: { watchIdleSeconds: 75 } }));
    const other = await herald.start({ settings: { watchIdleSeconds: 75 } });
    await quiet(other); // everything is listed and watched
    const before = [await requests(leader), await requests(other)];
    const beganMs = performance.now();
    const { everyMs } = testTiming.leader;
    await until(() => performance.now() - beganMs > 5 * everyMs, 60_000);
    const after = [await requests(leader), await requests(other)];
    const most = (performance.now() - beganMs) / everyMs + 1.5; // fewer where renewing itself takes long
    expect(after[0]! - before[0]!).to.be.within(1, most);
    expect(after[1]! - before[1]!).to.be.at.most(1); // by polling it would be as many
  });
});
