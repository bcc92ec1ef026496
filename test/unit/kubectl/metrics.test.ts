import { expect } from "chai";
import { valuesBy } from "../../../kubectl/kit/metrics.ts";

const metrics = `# HELP herald_open_breakers Provider accounts that are cut off.
# TYPE herald_open_breakers gauge
herald_open_breakers{channel="email"} 2
herald_open_breakers{pool="a",channel="ios_push",other="x"} 0
herald_open_breakers_total{channel="sms"} 7
herald_unsaved{channel="rcs"} 3
`;

describe("a program's metrics, as kubectl herald reads them", () => {
  it("are the values of one metric by one of its labels", () => {
    expect([...valuesBy(metrics, "herald_open_breakers", "channel")]).to.deep.equal([
      ["email", 2],
      ["ios_push", 0],
    ]);
  });

  it("are none where the program does not measure that", () => {
    expect(valuesBy("", "herald_open_breakers", "channel").size).to.equal(0);
  });
});
