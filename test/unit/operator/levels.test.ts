import { expect } from "chai";
import { Registry } from "prom-client";
import type { StreamLevel } from "#core/queue/jetstream/stream-levels.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import { type PlanSpec, planResource } from "#core/schema/plans/resource.ts";
import { makeStores } from "../../../operator/engine/stores.ts";
import { allKinds } from "../../../operator/kinds/all.ts";
import { type LevelsDeps, watchLevels } from "../../../operator/levels.ts";

type Plan = Resource<PlanSpec>;

const aPlan = (name: string, ready?: string): Plan => ({
  metadata: { name, uid: name, resourceVersion: "1" },
  spec: {} as PlanSpec, // not looked at
  ...(ready !== undefined && { status: { conditions: [{ type: "Ready", status: ready }] } }),
});

const aStream: StreamLevel = {
  name: "herald-work-free",
  messages: 3,
  bytes: 300,
  bytesLimit: 1_000,
  pending: [{ consumer: "plan", messages: 2 }],
};

describe("the gauges of an operator", () => {
  type Options = { plans?: Plan[] } & Partial<Pick<LevelsDeps, "streams" | "streamsMs">>;
  const scrape = async ({ plans = [], streams = async () => [], ...more }: Options): Promise<string> => {
    const registry = new Registry();
    const stores = makeStores(allKinds);
    for (const plan of plans) stores.of(planResource).put(plan);
    watchLevels(registry, { stores, streams, ...more });
    return registry.metrics();
  };

  it("count resources by kind and by whether they are Ready; one that nobody has looked at is Unknown", async () => {
    const text = await scrape({ plans: [aPlan("a", "True"), aPlan("b", "True"), aPlan("c", "False"), aPlan("d")] });
    expect(text).to.include('herald_resources{kind="plan",ready="True"} 2');
    expect(text).to.include('herald_resources{kind="plan",ready="False"} 1');
    expect(text).to.include('herald_resources{kind="plan",ready="Unknown"} 1');
    expect(text).to.include('herald_resources{kind="liveactivitytype",ready="True"} 0');
    expect(text).not.to.include('kind="secret');
  });

  it("show how full streams are, by one reading for each scrape", async () => {
    let readings = 0;
    const text = await scrape({
      streams: async () => {
        readings++;
        return [aStream];
      },
    });
    expect(readings).to.equal(1);
    expect(text).to.include('herald_stream_messages{stream="herald-work-free"} 3');
    expect(text).to.include('herald_stream_bytes{stream="herald-work-free"} 300');
    expect(text).to.include('herald_stream_bytes_limit{stream="herald-work-free"} 1000');
    expect(text).to.include('herald_consumer_pending{stream="herald-work-free",consumer="plan"} 2');
  });

  it("show nothing of streams while JetStream is away, and go on", async () => {
    const text = await scrape({ streams: () => Promise.reject(new Error("away")) });
    expect(text).to.include("herald_resources").and.not.to.include("herald_stream_bytes{");
  });

  it("show nothing of streams while JetStream does not answer, and do not wait for it", async () => {
    const text = await scrape({ streams: () => new Promise(() => undefined), streamsMs: 1 });
    expect(text).to.include("herald_resources").and.not.to.include("herald_stream_bytes{");
  });
});
