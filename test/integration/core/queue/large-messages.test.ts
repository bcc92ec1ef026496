import { expect } from "chai";
import { until } from "../../../support/until.ts";
import { queueOfSuite } from "./helpers.ts";

describe("messages that take several places each", () => {
  const { publish, startWorker } = queueOfSuite(`large_${process.pid}`);

  it("are in hand as few at a time, and are all handled", async () => {
    let [now, most, handled] = [0, 0, 0];
    for (let n = 0; n < 10; n++) await publish({ n }); // of 7 bytes
    await startWorker({
      bytesOfPlace: 2,
      parse: () => undefined,
      handle: async () => {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setTimeout(resolve, 50));
        now--;
        handled++;
        return { kind: "done" };
      },
    });
    await until(() => handled === 10);
    expect(most).to.be.within(1, 4);
  });
});
