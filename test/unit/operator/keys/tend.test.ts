import { expect } from "chai";
import { Registry } from "prom-client";
import { operatorMetrics } from "#core/runtime/metrics/operator.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { tendKeys } from "../../../../operator/keys/tend.ts";

const sealedBy = (kid: string) => ({ collection: "apps", kid, secrets: 2, documents: 1 });

describe("tending what the key ring seals", () => {
  /** The metric after each pass, where the passes find these keys in use, until they have found the last. */
  const tended = async (passes: string[][], everyMs: number): Promise<string[]> => {
    const metrics = operatorMetrics(new Registry());
    const stop = new AbortController();
    const shown: string[] = [];
    let pass = 0;
    const tend = tendKeys({
      reseal: async () => (passes[pass++] ?? []).map(sealedBy),
      kids: ["new", "old"],
      keep: async () => {
        const { values } = await metrics.sealed.get();
        shown.push(values.map(({ labels, value }) => `${labels["kid"]} ${value}`).join(", "));
        if (pass === passes.length) stop.abort();
      },
      everyMs,
      soonestMs: 1,
      metrics,
      log: createLog({ program: "operator", level: "fatal" }),
    });
    await tend(stop.signal);
    return shown;
  };

  it("comes back soon while an old key seals something, whatever the resync", async () => {
    const anHour = 3_600_000;
    expect(await tended([["old"], ["new", "old"], ["new"]], anHour)).to.deep.equal([
      "new 0, old 2",
      "new 2, old 2",
      "new 2, old 0",
    ]);
  });

  it("does not come back sooner for a key that is not in the ring: nothing of it can be opened", async () => {
    const beganMs = performance.now();
    await tended([["new", "lost"], ["new"]], 100);
    expect(performance.now() - beganMs).to.be.at.least(99);
  });
});
