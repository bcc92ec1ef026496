import { expect } from "chai";
import { createLog } from "#core/runtime/process/log.ts";
import { audienceSize } from "../../../../apiserver/audience/audience-size.ts";
import { handClock } from "../../../support/rows/work.ts";
import { until } from "../../../support/until.ts";

const log = createLog({ program: "tests", level: "fatal" });
const most = 10;
const audience = {
  tenantId: "ten_1",
  appId: "app_1",
  testOnly: false,
  category: null,
  reach: [
    { channel: "email" as const, status: "subscribed" as const },
    { channel: "ios_push" as const, status: "subscribed" as const },
  ],
};

/** An app with so many subscriptions by e-mail, and seven devices; `read` notes what each query may read at most. */
const anApp = (count: number, over: { waitMs?: number; gate?: Promise<void> } = {}) => {
  const ids: string[] = [];
  const add = (n: number) => {
    for (let i = 0; i < n; i++) ids.push(`sub_${String(ids.length).padStart(6, "0")}`);
  };
  add(count);
  const read: number[] = [];
  let parts = 0;
  const behind = (channel: string, id: string) =>
    (channel === "email" ? ids : ids.slice(0, 7)).filter((one) => one > id);
  const clock = handClock();
  const size = audienceSize({
    counts: {
      behind: async ({ channel }, id, limit) => {
        read.push(limit);
        return Math.min(behind(channel, id).length, limit);
      },
      nthBehind: async ({ channel }, id, n) => {
        read.push(n);
        if (++parts > 1) await over.gate;
        return behind(channel, id)[n - 1] ?? null;
      },
    },
    clock,
    log,
    most,
    ...over,
  });
  return { size: () => size(audience), ids, add, read, clock };
};

describe("the size of an audience", () => {
  for (const count of [0, 7, 10, 11, 20, 25, 1_234]) {
    it(`is exact for ${count}, and no query reads more than it may`, async () => {
      const { size, read } = anApp(count);
      expect(await size()).to.equal(count + Math.min(count, 7));
      expect(Math.max(...read)).to.be.at.most(most + 1);
    });
  }

  it("is counted anew each time while it is small", async () => {
    const { size, ids } = anApp(9);
    await size();
    ids.splice(0, 4);
    expect(await size()).to.equal(5 + 5);
  });

  it("is not counted from its begin again when it is large: what has come since is added", async () => {
    const { size, add, read } = anApp(95);
    await size();
    add(3);
    read.length = 0;
    expect(await size()).to.equal(98 + 7);
    expect(read).to.have.length(2); // one for each channel
  });

  it("is counted again after ten minutes, while the answer of before is given", async () => {
    const { size, ids, clock } = anApp(95);
    await size();
    ids.splice(0, 80);
    clock.tick(600_000);
    expect(await size()).to.equal(95 + 7);
    await until(async () => (await size()) === 15 + 7);
    ids.splice(0, 10);
    clock.tick(600_000);
    await until(async () => (await size()) === 5 + 5);
  });

  it("is what is known of it when the whole takes too long, and the whole later", async () => {
    const { promise: gate, resolve: release } = Promise.withResolvers<void>();
    const { size } = anApp(95, { gate, waitMs: 20 });
    expect(await size()).to.be.within(most, 94);
    release();
    await until(async () => (await size()) === 95 + 7);
  });
});
