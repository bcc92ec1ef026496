import { expect } from "chai";
import { deliveryIdOf, resultOf } from "../../../../../dispatcher/messages/delivery/delivery-row.ts";
import { recorder } from "../../../../../dispatcher/messages/delivery/record.ts";
import { anAttempt, aSubscription } from "../../../../support/rows/work.ts";

const rowOf = (n: number) => {
  const subscription = aSubscription({ _id: `sub_${n}` });
  const attempt = anAttempt({ deliveryId: deliveryIdOf("msg_1", subscription._id), subscription });
  const result = resultOf({ kind: "sent", providerId: null }, attempt);
  if (result.kind !== "final") throw new Error("a sent push is final");
  return result.row;
};

const rows = (count: number) => Array.from({ length: count }, (_, n) => rowOf(n));

describe("recorder", () => {
  it("stores what comes in one turn of the event loop together, in batches of at most 100", async () => {
    const sizes: number[] = [];
    const record = recorder({
      store: async (batch) => {
        sizes.push(batch.length);
        return new Set();
      },
      writers: 1,
    });
    await Promise.all(rows(250).map(record));
    expect(sizes).to.deep.equal([100, 100, 50]);
  });

  it("says which deliveries an earlier run had stored", async () => {
    const [first, second] = rows(2);
    if (first === undefined || second === undefined) throw new Error("two rows were made");
    const record = recorder({ store: async () => new Set([first._id]), writers: 1 });
    expect(await Promise.all([record(first), record(second)])).to.deep.equal(["known", "new"]);
  });

  it("tells a result alone that it cannot be stored, and stores those that came with it", async () => {
    const record = recorder({
      store: async (batch) => {
        if (batch.some(({ subscription_id: id }) => id === "sub_0")) throw new Error("refused");
        return new Set();
      },
      writers: 1,
    });
    const results = await Promise.allSettled(rows(3).map(record));
    expect(results.map(({ status }) => status)).to.deep.equal(["rejected", "fulfilled", "fulfilled"]);
    expect(await record(rowOf(3))).to.equal("new");
  });

  it("never has more writes under way than it has writers", async () => {
    let now = 0;
    let most = 0;
    const record = recorder({
      store: async () => {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setImmediate(resolve));
        now--;
        return new Set();
      },
      writers: 2,
    });
    await Promise.all(rows(500).map(record));
    expect(most).to.equal(1 + 1);
  });
});
