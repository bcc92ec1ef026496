import { expect } from "chai";
import { channelsOfPlatforms, startedOver } from "#core/domain/live-activities/platforms.ts";

describe("the channels of a live activity type", () => {
  const cases = [
    { it: "are those of iOS when it names no platform", platforms: undefined, channels: ["ios_push"] },
    { it: "are Android's alone", platforms: ["android"], channels: ["android_push"] },
    {
      it: "are in one order, whatever that of the platforms is",
      platforms: ["android", "ios"],
      channels: ["ios_push", "android_push"],
    },
  ] as const;
  for (const { it: name, platforms, channels } of cases)
    it(name, () => expect(channelsOfPlatforms(platforms)).to.deep.equal(channels));
});

describe("the channels of a live activity", () => {
  it("are those that it was started over, and of one that does not say so those of iOS", () => {
    expect(startedOver({ channels: ["android_push"] })).to.deep.equal(["android_push"]);
    expect(startedOver({})).to.deep.equal(["ios_push"]);
  });
});
