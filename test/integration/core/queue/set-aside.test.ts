import { expect } from "chai";
import { Unavailable } from "#core/errors.ts";
import { until } from "../../../support/until.ts";
import { queueOfSuite, testMetrics } from "./helpers.ts";

describe("a hint that fails again and again", () => {
  const { publish, startWorker } = queueOfSuite(`aside_${process.pid}`);

  it("is counted from the fifth time on, unless it fails because a store is away", async () => {
    const metrics = testMetrics().queue;
    const asides = async () => (await metrics.setAside.get()).values.map(({ labels, value }) => [labels, value]);
    const failed: number[] = [];
    await startWorker<{ n: number }>({
      parse: (input) => input as { n: number },
      handle: async ({ n }, { attempt }) => {
        if (attempt < 5) return { kind: "retry", delayMs: 1, reason: "not yet" };
        if (attempt > 5) return { kind: "done" };
        failed.push(n);
        throw n === 0 ? new TypeError("no") : new Unavailable("MongoDB");
      },
      metrics,
    });
    expect(await asides()).to.deep.equal([[{ source: "work" }, 0]]);
    for (const n of [0, 1]) await publish({ n });
    await until(() => failed.length === 2);
    await until(async () =>
      (await metrics.messages.get()).values.some(({ labels, value }) => labels.settlement === "failed" && value === 2),
    );
    expect(await asides()).to.deep.equal([[{ source: "work" }, 1]]);
  });
});
