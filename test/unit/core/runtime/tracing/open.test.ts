import { expect } from "chai";
import { pino } from "pino";
import { Type } from "typebox";
import { TracingConfig, tracingNeeds } from "#config/tracing.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { ConfigError, loadConfig } from "#core/runtime/process/config.ts";
import { openTracer } from "#core/runtime/tracing/open.ts";
import { noTracer } from "#core/runtime/tracing/tracer.ts";
import { type OtlpReceiver, startOtlpReceiver } from "../../../../support/tracing/receiver.ts";

const Settings = Type.Object(TracingConfig, { additionalProperties: false, dependentRequired: tracingNeeds });

const open = (env: Record<string, string>) =>
  openTracer({
    settings: loadConfig(Settings, env),
    resource: { "service.name": "test" },
    metrics: createMetrics("dispatcher").traces,
    log: pino({ level: "silent" }),
  });

const started = async (env: Record<string, string>) => {
  const opened = open(env);
  for (const part of opened.parts) await part.start(new AbortController().signal);
  return opened;
};

describe("a program's tracer", () => {
  let receiver: OtlpReceiver;
  beforeEach(async () => {
    receiver = await startOtlpReceiver();
  });
  afterEach(() => receiver.stop());

  it("records nothing unless a receiver is named", () => {
    expect(open({})).to.deep.equal({ tracer: noTracer, isOn: false, parts: [] });
  });

  it("exports at the program's end what it still has", async () => {
    const { tracer, parts } = await started({ HERALD_OTLP_ENDPOINT: `${receiver.url}/otlp/` });
    const span = tracer.begin("work", "internal", { parent: null });
    tracer.child("part", "client", span?.traceparent)?.end();
    span?.end();
    expect(receiver.spans()).to.deep.equal([]);
    await parts[0]?.stop(AbortSignal.timeout(5_000));
    expect(receiver.requests().map(({ path }) => path)).to.deep.equal(["/otlp/v1/traces"]);
    expect(receiver.spans().map(({ name, kind, service }) => [service, kind, name])).to.deep.equal([
      ["test", "client", "part"],
      ["test", "internal", "work"],
    ]);
    expect(receiver.spans()[0]?.parent).to.equal(receiver.spans()[1]?.spanId);
  });

  it("does not keep a program from ending when the receiver hangs", async () => {
    receiver.answer(null);
    const { tracer, parts } = await started({ HERALD_OTLP_ENDPOINT: receiver.url, HERALD_OTLP_TIMEOUT_SECONDS: "3" });
    tracer.begin("work", "internal", { parent: null })?.end();
    const graceIsOver = new AbortController();
    const stopped = parts[0]?.stop(graceIsOver.signal);
    graceIsOver.abort();
    await stopped;
    expect(receiver.spans()).to.deep.equal([]);
  });

  for (const [name, env] of Object.entries({
    "an address of another protocol": { HERALD_OTLP_ENDPOINT: "grpc://collector:4317" },
    "an address with a password, which would get into logs": { HERALD_OTLP_ENDPOINT: "http://a:b@collector:4318" },
    "headers that are no pairs": { HERALD_OTLP_ENDPOINT: "http://collector:4318", HERALD_OTLP_HEADERS: "Bearer x" },
    "headers for nobody": { HERALD_OTLP_HEADERS: "a=b" },
    "a queue without end": { HERALD_TRACE_QUEUE: "1000000" },
  })) {
    it(`is not made with ${name}`, async () => {
      expect(() => loadConfig(Settings, env)).to.throw(ConfigError);
    });
  }
});
