import { expect } from "chai";
import { type Evidence, judge, worst } from "#core/domain/status/judge.ts";
import type { Figures } from "#core/domain/status/rules.ts";
import { components } from "#core/schema/status/vocabulary.ts";

const figures = (over: Partial<Figures> = {}): Figures => ({
  requests: 1_100,
  failed_requests: 0,
  slow_requests: 0,
  device_requests: 100,
  failed_device_requests: 0,
  slow_device_requests: 0,
  deliveries: 1_000,
  put_off_deliveries: 0,
  due_documents: 1_000,
  late_documents: 0,
  dispatchers: 2,
  ...over,
});
const evidence = (over: Partial<Evidence> = {}): Evidence => ({
  reachable: { database: true, cache: true, queue: true, files: true },
  figures: figures(),
  affected: new Set(),
  ...over,
});
const all = (status: string) => Object.fromEntries(components.map((name) => [name, status]));
/** The components that are not operational. */
const wrong = (over: Partial<Evidence>) =>
  Object.fromEntries(Object.entries(judge(evidence(over))).filter(([, status]) => status !== "operational"));

describe("the status of the service", () => {
  it("is operational while everything answers and nothing fails", () => {
    expect(judge(evidence())).to.deep.equal(all("operational"));
  });

  for (const store of ["database", "cache"] as const) {
    it(`is a major outage of everything while the ${store} is away`, () => {
      const reachable = { database: true, cache: true, queue: true, files: true, [store]: false };
      expect(judge(evidence({ reachable }))).to.deep.equal(all("major_outage"));
    });
  }

  it("has only what waits for the queue degraded while it is away", () => {
    const reachable = { database: true, cache: true, queue: false, files: true };
    expect(wrong({ reachable })).to.deep.equal({ worker: "degraded", delivery: "degraded" });
  });

  it("has jobs degraded while files cannot be kept", () => {
    const reachable = { database: true, cache: true, queue: true, files: false };
    expect(wrong({ reachable })).to.deep.equal({ worker: "degraded" });
  });

  it("is a major outage of processing and delivery without a worker", () => {
    const outage = { worker: "major_outage", delivery: "major_outage" };
    expect(wrong({ figures: figures({ dispatchers: 0 }) })).to.deep.equal(outage);
  });

  it("has what an open incident names degraded", () => {
    expect(wrong({ affected: new Set(["sdk" as const]) })).to.deep.equal({ sdk: "degraded" });
  });

  const served = (status: string) => ({ api: status, dashboard: status });
  const ofDevices = (count: number) => ({ failed_requests: count, failed_device_requests: count });
  const bounds: [over: Partial<Figures>, is: object][] = [
    [{ failed_requests: 49 }, {}],
    [{ failed_requests: 50 }, served("degraded")],
    [{ failed_requests: 500 }, served("major_outage")],
    [{ slow_requests: 99 }, {}],
    [{ slow_requests: 1_000 }, served("degraded")],
    [{ late_documents: 99 }, {}],
    [{ late_documents: 100 }, { worker: "degraded" }],
    [{ put_off_deliveries: 99 }, {}],
    [{ put_off_deliveries: 100 }, { delivery: "degraded" }],
    [{ put_off_deliveries: 900 }, { delivery: "major_outage" }],
    [ofDevices(4), {}],
    [ofDevices(5), { sdk: "degraded" }],
    [ofDevices(50), { sdk: "major_outage" }],
    [{ slow_requests: 10, slow_device_requests: 10 }, { sdk: "degraded" }],
    [{ requests: 19, failed_requests: 19, device_requests: 0 }, {}],
    [{ requests: 20, failed_requests: 20, device_requests: 0 }, served("major_outage")],
    [{ device_requests: 19, ...ofDevices(19) }, {}],
  ];
  for (const [over, is] of bounds) {
    it(`says ${JSON.stringify(is)} of ${JSON.stringify(over)}`, () => {
      expect(wrong({ figures: figures(over) })).to.deep.equal(is);
    });
  }

  it("says nothing against what cannot be measured", () => {
    expect(judge(evidence({ figures: null }))).to.deep.equal(all("operational"));
  });

  it("is as bad as its worst part", () => {
    expect(worst(["operational", "major_outage", "degraded"])).to.equal("major_outage");
    expect(worst([])).to.equal("operational");
  });
});
