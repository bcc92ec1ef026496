import { expect } from "chai";
import { readHeaders } from "#core/runtime/tracing/headers.ts";
import { isSampled, readTraceparent, traceFacts, writeTraceparent } from "#core/runtime/tracing/traceparent.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";

describe("a traceparent", () => {
  const cases: { given: string; sampled: boolean | null }[] = [
    { given: `00-${traceId}-${spanId}-01`, sampled: true },
    { given: `00-${traceId}-${spanId}-00`, sampled: false },
    { given: `00-${traceId}-${spanId}-03`, sampled: true }, // another flag is set, too
    { given: `00-${traceId}-${spanId}-0a`, sampled: false },
    { given: `00-${traceId}-${spanId}-0b`, sampled: true },
    { given: `01-${traceId}-${spanId}-01`, sampled: null },
    { given: `00-${"0".repeat(32)}-${spanId}-01`, sampled: null },
    { given: `00-${traceId}-${"0".repeat(16)}-01`, sampled: null },
    { given: `00-${traceId.toUpperCase()}-${spanId}-01`, sampled: null },
    { given: `00-${traceId}-${spanId}-01-more`, sampled: null },
    { given: "", sampled: null },
  ];
  for (const { given, sampled } of cases) {
    it(`"${given}" is ${sampled === null ? "none" : sampled ? "sampled" : "not sampled"}`, () => {
      const read = readTraceparent(given);
      expect(read?.isSampled ?? null).to.equal(sampled);
      if (read === null) return;
      expect(isSampled(given)).to.equal(sampled);
      expect(traceFacts(given)).to.deep.equal({ trace_id: traceId, span_id: spanId });
      expect(readTraceparent(writeTraceparent(read))).to.deep.equal(read);
    });
  }

  it("that is not there says nothing to the log", () => {
    expect([traceFacts(null), traceFacts("")]).to.deep.equal([{}, {}]);
    expect([isSampled(null), isSampled(undefined), isSampled("")]).to.deep.equal([false, false, false]);
  });
});

describe("headers for the receiver", () => {
  it("are read as OpenTelemetry writes them", () => {
    expect(readHeaders("authorization=Bearer%20abc, x-scope=a=b,broken=%")).to.deep.equal({
      authorization: "Bearer abc",
      "x-scope": "a=b",
      broken: "%",
    });
    expect(readHeaders("")).to.deep.equal({});
  });
});
