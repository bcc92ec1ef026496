import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { testServers } from "../../support/servers/servers.ts";
import { type Sending, seedDevices, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from "../../support/tracing/receiver.ts";
import { leastMs, until } from "../../support/until.ts";
import { type Inbox, startInbox } from "../../support/webhooks/inbox.ts";
import { addEndpoint, endpointSecret, loopbackAllowed } from "../../support/webhooks/traffic.ts";

describe("traces", () => {
  let sending: Sending;
  let receiver: OtlpReceiver;
  let inbox: Inbox;
  let api: SystemProgram;
  let dispatcher: SystemProgram;
  const secret = randomBytes(12).toString("hex");
  const canaries = {
    header: `otlp-${secret}`,
    content: `content-${secret}`,
    person: `person-${secret}`,
    path: `path-${secret}`,
    event: `event-${secret}`,
  };

  before(async () => {
    receiver = await startOtlpReceiver();
    inbox = await startInbox();
    sending = await startSending(await testServers());
    const env = {
      ...loopbackAllowed,
      HERALD_OTLP_ENDPOINT: receiver.url,
      HERALD_OTLP_HEADERS: `x-key=${canaries.header}`,
      HERALD_OTLP_TIMEOUT_SECONDS: "5", // a busy machine may take a second for an export, and what is late is given up
      HERALD_CALLER_TRACES_PER_SECOND: "100",
    };
    [api, dispatcher] = await Promise.all([
      sending.system.start("apiserver", { ...env, HERALD_TRACE_RATIO: "0" }),
      sending.system.start("dispatcher", env),
    ]);
  });
  afterEach(() => receiver.answer(200));
  after(async () => {
    await sending?.close();
    await inbox?.stop();
    await receiver?.stop();
  });

  const traceId = (): string => randomBytes(16).toString("hex");
  const callerSpan = "b7ad6b7169203331";
  const sampled = (trace: string): string => `00-${trace}-${callerSpan}-01`;

  /** Asks for a notification to a device of its own, as somebody whose span the request belongs to. */
  const notify = async (
    traceparent: string,
    {
      to = api,
      token = sending.system.token,
      devices,
    }: { to?: SystemProgram; token?: string; devices?: string[] } = {},
  ): Promise<number> => {
    const ids = devices ?? (await seedDevices(sending.system, 1)).map(({ _id }) => _id);
    const reply = await fetch(`${to.url}/v1/notifications`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", traceparent },
      body: JSON.stringify({
        app_id: sending.system.app._id,
        contents: { en: canaries.content },
        target: { include_subscription_ids: ids },
      }),
    });
    await reply.arrayBuffer();
    return reply.status;
  };
  const spansOf = (trace: string): ReceivedSpan[] => receiver.spans().filter(({ traceId: of }) => of === trace);
  const known = async (trace: string, isAll: (spans: ReceivedSpan[]) => boolean): Promise<ReceivedSpan[]> => {
    await until(() => isAll(spansOf(trace))).catch(() => undefined); // what is missing is said below
    return spansOf(trace);
  };
  /** A trace as lines of a tree: programs, kinds and names. */
  const treeOf = (spans: readonly ReceivedSpan[], parent: string, depth = 0): string[] =>
    spans
      .filter((span) => span.parent === parent)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((span) => [
        `${"  ".repeat(depth)}${span.service} ${span.kind} ${span.name}`,
        ...treeOf(spans, span.spanId, depth + 1),
      ]);

  it("follow a notification from its caller through every program to the provider and to an endpoint", async () => {
    receiver.answer(200, 1_600); // slower than any, for the first spans of both programs
    await addEndpoint(sending.system, {
      url: `${inbox.url}/${canaries.path}`,
      names: [],
      events: ["message.completed"],
    });
    const trace = traceId();
    expect(await notify(sampled(trace))).to.equal(202);
    const spans = await known(trace, (all) => all.length >= wholeTrace.length);
    expect(treeOf(spans, callerSpan)).to.deep.equal(wholeTrace);
    const about = (name: string) => spans.find((span) => span.name === name)?.attributes;
    expect(about("POST /v1/notifications")).to.deep.equal({
      "http.request.method": "POST",
      "http.route": "/v1/notifications",
      "http.response.status_code": 202,
      "herald.tenant": sending.system.tenantId,
    });
    expect(about("deliver ios_push")).to.include({ "herald.recipients.sent": 1, "herald.channel": "ios_push" });
    expect(about("POST")).to.include({ "http.response.status_code": 200, "herald.event_type": "message.completed" });
    expect(spans.filter(({ isFailed }) => isFailed)).to.deep.equal([]);
  });

  it("are posted where OTLP has them, with the headers of the settings", () => {
    const [first] = receiver.requests();
    expect(first?.path).to.equal("/v1/traces");
    expect(first?.headers).to.include({ "content-type": "application/x-protobuf", "x-key": canaries.header });
  });

  it("are named in the log lines of every program, and by exemplars where a scrape asks for them", async () => {
    const trace = traceId();
    await notify(sampled(trace));
    await known(trace, (all) => all.some(({ name }) => name === "send apns"));
    for (const [program, event] of [
      [api, "request.handled"],
      [dispatcher, "chunk.delivered"],
      [dispatcher, "message.ended"],
    ] as const) {
      const isOurs = (line: Record<string, unknown>) => line["trace_id"] === trace && line["event"] === event;
      await until(async () => (await program.log()).some(isOurs));
      const line = (await program.log()).find(isOurs);
      const spans = await known(trace, (all) => all.some(({ spanId }) => spanId === line?.["span_id"])); // each program exports its own
      expect(spans.map(({ spanId }) => spanId)).to.include(line?.["span_id"]);
    }
    const scraped = async (accept: string) => (await fetch(`${api.healthUrl}/metrics`, { headers: { accept } })).text();
    expect(await scraped("application/openmetrics-text;version=1.0.0,text/plain;q=0.5")).to.match(
      new RegExp(`^herald_http_request_duration_seconds_bucket\\{.*\\} \\d+ # \\{trace_id="${trace}",span_id="`, "m"),
    );
    expect(await scraped("text/plain;version=0.0.4")).not.to.include(trace);
  });

  it("have a span for each of the first calls of a provider only, and one for the whole chunk", async () => {
    const trace = traceId();
    const devices = await seedDevices(sending.system, 20);
    await notify(sampled(trace), { to: api, devices: devices.map(({ _id }) => _id) });
    const spans = await known(trace, (all) => all.some(({ name }) => name === "deliver ios_push"));
    expect(spans.filter(({ name }) => name === "send apns")).to.have.lengthOf(8);
    const whole = spans.find(({ name }) => name === "deliver ios_push");
    expect(whole?.attributes).to.include({ "messaging.batch.message_count": 20, "herald.recipients.sent": 20 });
  });

  it("are begun by no caller that is not known, nor by one that does not trace", async () => {
    const [stranger, silent, last] = [traceId(), traceId(), traceId()];
    expect(await notify(sampled(stranger), { token: "nobody" })).to.equal(401);
    expect(await notify(`00-${silent}-${callerSpan}-00`)).to.equal(202);
    expect(await notify(sampled(last))).to.equal(202);
    await known(last, (all) => all.some(({ name }) => name === "send apns"));
    expect([...spansOf(stranger), ...spansOf(silent)]).to.deep.equal([]);
  });

  it("say nothing of content, people, addresses, tokens and secrets", async () => {
    const { token, app } = sending.system;
    const trace = traceId();
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      traceparent: sampled(trace),
    };
    const events = [{ name: "order_paid", external_id: canaries.person, properties: { of: canaries.event } }];
    await fetch(`${api.url}/v1/apps/${app._id}/users/by/external_id/${canaries.person}?q=${canaries.event}`, {
      headers,
    });
    await fetch(`${api.url}/v1/apps/${app._id}/events`, { method: "POST", headers, body: JSON.stringify({ events }) });
    const ofServer = (all: readonly ReceivedSpan[]) => all.filter(({ kind }) => kind === "server");
    const came = await known(
      trace,
      (all) => all.some(({ name }) => name === "process custom-events") && ofServer(all).length >= 2,
    );
    expect(ofServer(came)).to.have.lengthOf(2);
    const tokens = sending.apns.log.tally("address").keys();
    const sent = Buffer.concat(receiver.bodies()).toString("latin1");
    expect(sent).to.include("herald.tenant"); // it can be read like this
    for (const secret of [...Object.values(canaries), token, endpointSecret, ...tokens, "Bearer", "127.0.0.1"])
      expect(sent).not.to.include(secret);
  });

  it("are recorded by no program that names no receiver", async () => {
    const trace = traceId();
    const untraced = await sending.system.start("apiserver");
    expect(await notify(sampled(trace), { to: untraced })).to.equal(202);
    await known(trace, (all) => all.some(({ name }) => name === "send apns")); // the dispatcher does record
    expect(new Set(spansOf(trace).map(({ service }) => service))).to.deep.equal(new Set(["herald-dispatcher"]));
  });

  it("delay nothing while the receiver hangs or refuses, and what it did not take is counted", async () => {
    for (const answer of [null, 500]) {
      const before = await failed(api);
      receiver.answer(answer);
      const notified = async () => expect(await notify(sampled(traceId()))).to.equal(202);
      expect(await leastMs(notified)).to.be.below(1_000); // an export is given seconds
      await until(async () => (await failed(api)) > before);
    }
    receiver.answer(200);
    const trace = traceId();
    await notify(sampled(trace));
    expect(await known(trace, (all) => all.some(({ name }) => name === "send apns"))).not.to.deep.equal([]);
    const events = async () => (await api.log()).map(({ event }) => event);
    await until(async () => (await events()).includes("traces.exported")); // the dispatcher may export before it
    expect((await events()).filter((event) => event === "traces.not_exported")).to.have.lengthOf(1);
  });
});

/** What is recorded of a notification to one device, of which an endpoint hears. */
const wholeTrace = [
  "herald-apiserver server POST /v1/notifications",
  "  herald-apiserver producer publish app-events",
  "    herald-dispatcher consumer process webhooks",
  "  herald-apiserver producer publish plan",
  "    herald-dispatcher consumer process plan",
  "      herald-dispatcher internal deliver ios_push",
  "        herald-dispatcher client send apns",
  "      herald-dispatcher producer publish app-events", // delivery.sent, to nobody
  "        herald-dispatcher consumer process webhooks",
  "      herald-dispatcher producer publish app-events", // message.completed
  "        herald-dispatcher consumer process webhooks",
  "          herald-dispatcher client POST",
];

/** Spans of a program that a receiver did not take. */
const failed = async ({ healthUrl }: SystemProgram): Promise<number> => {
  const page = await (await fetch(`${healthUrl}/metrics`)).text();
  return Number(/^herald_spans_total\{outcome="failed".*\} (\d+)$/m.exec(page)?.[1]);
};
