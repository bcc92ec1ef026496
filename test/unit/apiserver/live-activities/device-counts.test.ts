import { expect } from "chai";
import { deviceCounts } from "../../../../apiserver/live-activities/device-counts.ts";
import { handClock } from "../../../support/rows/work.ts";

describe("the devices of a live activity", () => {
  /** An activity on so many devices, and how many were looked at for each answer. */
  const given = (devices: number) => {
    const clock = handClock();
    const looked: number[] = [];
    const tally = async (_: object, most: number) => {
      looked.push(Math.min(devices, most));
      return { active: Math.min(devices, most) };
    };
    return { clock, looked, count: deviceCounts({ recipients: { tally }, clock }) };
  };
  const of = { appId: "app_1", activity: "act_1" };

  it("are counted for each request when they are few", async () => {
    const { count, looked } = given(10_000);
    expect([await count(of), await count(of)]).to.deep.equal([{ active: 10_000 }, { active: 10_000 }]);
    expect(looked).to.deep.equal([10_000, 10_000]);
  });

  it("are counted up to 100,000, once in 10 s, when they are many", async () => {
    const { count, looked, clock } = given(1_000_000);
    for (let n = 0; n < 3; n++) expect(await count(of)).to.deep.equal({ active: 100_000 });
    clock.tick(10_000);
    await count(of);
    expect(looked.filter((devices) => devices > 10_001)).to.deep.equal([100_000, 100_000]);
  });
});
