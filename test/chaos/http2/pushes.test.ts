import { expect } from "chai";
import { pushThroughChaos } from "../../support/http2/chaos.ts";

// 200,000 pushes through the same are part of `make bench`: push-chaos.
describe("pushes through a provider that fails in every way", () => {
  for (const seed of [1, 2, 3])
    it(`are neither lost nor sent twice, and uncertain only where it took them (seed ${seed})`, async () => {
      const pushes = 3_000;
      const result = await pushThroughChaos({ pushes, every: 60, seed });
      expect(result).to.include({ lost: 0, twice: 0, wronglyUncertain: 0, beyondLimit: 0 });
      expect(result.answered + result.uncertain).to.equal(pushes);
      expect(result.connections).to.be.above(5);
      expect(Object.values(result.faults).filter((times) => times > 0)).to.have.length.above(5);
    });
});
