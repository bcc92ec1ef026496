import { expect } from "chai";
import { passes } from "#core/runtime/process/passes.ts";
import { until } from "../../../../support/until.ts";

const running = new AbortController().signal;

describe("passes", () => {
  it("follow one another, also after one that failed, until they are stopped", async () => {
    let [begun, failed] = [0, 0];
    const part = passes({
      name: "looking",
      everyMs: 1,
      pass: async () => {
        if (++begun === 2) throw new Error("not now");
      },
      onError: () => failed++,
    });
    await part.start(running);
    await until(() => begun >= 4);
    await part.stop(running);
    const total = begun;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([begun, failed]).to.deep.equal([total, 1]);
  });

  it("are stopped without waiting for the pause, and once the pass under way has ended", async () => {
    const release = Promise.withResolvers<void>();
    const seen: boolean[] = [];
    const pass = async (stop: AbortSignal): Promise<void> => {
      await release.promise;
      seen.push(stop.aborted);
    };
    const part = passes({ name: "looking", everyMs: 60_000, pass, onError: () => undefined });
    await part.start(running);
    const stopping = part.stop(running);
    release.resolve();
    await stopping;
    expect(seen).to.deep.equal([true]);
  });
});
