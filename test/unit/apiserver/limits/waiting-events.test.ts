import { expect } from "chai";
import { Registry } from "prom-client";
import { apiserverMetrics } from "#core/runtime/metrics/apiserver.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { waitingEvents } from "../../../../apiserver/limits/waiting-events.ts";
import { aPlan, aTenant } from "../../../support/rows/fixtures.ts";

const log = createLog({ program: "test", level: "error", destination: { write: () => undefined } });

describe("events that wait in the store", () => {
  const tenant = aTenant();
  const event = { name: "a" };

  /** Counts once, as a request has come. */
  const counted = async (count: () => Promise<Map<string, number>>) => {
    const metrics = apiserverMetrics(new Registry());
    const waiting = waitingEvents({ batches: { waiting: count }, metrics, log });
    waiting.requireRoom({ tenant, plan: aPlan() }, [event]);
    await waiting.start(AbortSignal.timeout(1_000));
    await waiting.stop(AbortSignal.timeout(1_000));
    return { waiting, metrics };
  };

  it("are refused beyond the plan's bound, with what the request asks for", async () => {
    const { waiting, metrics } = await counted(async () => new Map([[tenant._id, 100]]));
    const ask = (bytes: number) =>
      waiting.requireRoom({ tenant, plan: aPlan({ waiting_event_bytes: bytes }) }, [event]);
    expect(() => ask(101)).not.to.throw();
    expect(() => ask(100))
      .to.throw("too many events")
      .with.property("details")
      .that.includes({ limit: 100, used: 100, needed: JSON.stringify([event]).length, retry_after_seconds: 5 });
    expect((await metrics.waitingEventBytes.get()).values).to.deep.equal([{ value: 100, labels: {} }]);
    const other = { tenant: aTenant(), plan: aPlan({ waiting_event_bytes: 100 }) };
    expect(() => waiting.requireRoom(other, [event]), "another organisation").not.to.throw();
  });

  it("are bounded by a plan that does not say how many may wait", async () => {
    const { waiting } = await counted(async () => new Map([[tenant._id, 64_000_000]]));
    const { waiting_event_bytes: _, ...former } = aPlan();
    for (const plan of [former, aPlan({ waiting_event_bytes: null })])
      expect(() => waiting.requireRoom({ tenant, plan }, [event])).to.throw("too many events");
  });

  it("are not refused while they cannot be counted", async () => {
    const { waiting } = await counted(() => Promise.reject(new Error("away")));
    expect(() => waiting.requireRoom({ tenant, plan: aPlan({ waiting_event_bytes: 1 }) }, [event])).not.to.throw();
  });
});
