import { expect } from "chai";
import { noTracer, type Span, type SpanBegin, type Tracer } from "#core/runtime/tracing/tracer.ts";
import { requestTraces } from "../../../../apiserver/http/request-traces.ts";
import { handClock } from "../../../support/rows/work.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const span = "b7ad6b7169203331";
const [sampled, unsampled] = [`00-${trace}-${span}-01`, `00-${trace}-${span}-00`];

const some = (ratio: number, { drawn = 0.5, callersPerSecond = 2 } = {}) => {
  const begun: SpanBegin[] = [];
  const clock = handClock();
  const one: Span = {
    traceparent: `00-${trace}-00000000000000aa-01`,
    rename: () => undefined,
    set: () => undefined,
    fail: () => undefined,
    end: () => undefined,
  };
  const tracer: Tracer = {
    ...noTracer,
    begin: (_name, _kind, begin) => {
      begun.push(begin);
      return one;
    },
  };
  const traces = requestTraces({ tracer, isOn: true, ratio, callersPerSecond, random: () => drawn, clock });
  return { ...traces, begun, clock, one };
};
const of = (tenantId: string) => ({ tenantId, startedAt: 7 });

describe("which requests are traced", () => {
  it("a share of those without a caller's trace", () => {
    expect(some(0.6).begin("").span).not.to.equal(null);
    expect(some(0.4).begin("").span).to.equal(null);
    expect(some(0, { drawn: 0 }).begin("").span).to.equal(null);
  });

  it("none that its caller does not trace", () => {
    const { begin, ofCaller } = some(1);
    const { span: none, traceparent } = begin(unsampled);
    expect(none).to.equal(null);
    expect(traceparent).to.match(new RegExp(`^00-${trace}-(?!${span})[0-9a-f]{16}-00$`));
    expect(ofCaller(unsampled, of("ten_1"))).to.equal(null);
  });

  it("those that their caller traces, once the caller is known", () => {
    const { begin, ofCaller, begun, one } = some(0);
    expect(begin(sampled).traceparent).to.match(/-00$/); // anybody can write this header
    expect(begun).to.deep.equal([]);
    expect(ofCaller(sampled, of("ten_1"))).to.deep.equal({ traceparent: one.traceparent, span: one });
    expect(begun).to.deep.equal([{ parent: sampled, startedAt: 7 }]);
  });

  it("as many a second as a tenant may have, each for itself", () => {
    const { ofCaller, clock } = some(0);
    const asked = (tenant: string) => ofCaller(sampled, of(tenant)) !== null;
    expect([asked("ten_1"), asked("ten_1"), asked("ten_1"), asked("ten_2")]).to.deep.equal([true, true, false, true]);
    clock.tick(1_000);
    expect(asked("ten_1")).to.equal(true);
    expect(some(1, { callersPerSecond: 0 }).ofCaller(sampled, of("ten_1"))).to.equal(null);
  });

  it("none while no receiver is named; the caller's context is handed on as it is", () => {
    const off = requestTraces({
      tracer: noTracer,
      isOn: false,
      ratio: 1,
      callersPerSecond: 1,
      random: () => 0,
      clock: handClock(),
    });
    expect(off.begin(sampled).traceparent).to.match(new RegExp(`^00-${trace}-(?!${span})[0-9a-f]{16}-01$`));
    expect(off.begin("nonsense").traceparent).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(off.ofCaller(sampled, of("ten_1"))).to.equal(null);
  });
});
