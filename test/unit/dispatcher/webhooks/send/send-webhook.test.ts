import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { bodyTemplates } from "#core/runtime/templates/body-templates.ts";
import { noTracer, type Tracer } from "#core/runtime/tracing/tracer.ts";
import { type GuardedClient, guardedClient } from "../../../../../dispatcher/net/guarded/client.ts";
import { deliveryOf, written } from "../../../../../dispatcher/webhooks/accept/delivery.ts";
import { prepare } from "../../../../../dispatcher/webhooks/send/prepare.ts";
import { type Sent, sendWebhook } from "../../../../../dispatcher/webhooks/send/send-webhook.ts";
import { anEnvelope } from "../../../../support/rows/webhook-deliveries.ts";
import { aWebhook } from "../../../../support/rows/webhooks.ts";
import { recorder, tracedBy } from "../../../../support/tracing/recorder.ts";

type Answer = { status: number; headers?: Record<string, string>; end: "hangs" | "breaks off" | "ends" };

describe("a request of a webhook", () => {
  let server: Server;
  let client: GuardedClient;
  let answer: Answer;

  before(async () => {
    client = guardedClient({ guard: addressGuard({ allow: ["127.0.0.0/8"] }) });
    server = createServer((_request, response) => {
      response.writeHead(answer.status, { "content-length": "100", ...answer.headers });
      response.write("partly", () => {
        if (answer.end === "breaks off") response.destroy();
        if (answer.end === "ends") response.end("-".repeat(94));
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  });
  after(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });

  const send = async (
    given: Answer,
    type: "delivery.sent" | "webhook.test" = "delivery.sent",
    { tracer = noTracer, traces }: { tracer?: Tracer; traces?: readonly string[] } = {},
  ): Promise<Sent> => {
    answer = given;
    const { port } = server.address() as AddressInfo; // sound: it listens on a port
    const secret = { kid: "test", data: `whsec_${Buffer.alloc(32, 5).toString("base64")}` };
    const timeout_ms = given.end === "hangs" ? 1_000 : 10_000;
    const row = aWebhook({ url: `http://127.0.0.1:${port}/`, secret, timeout_ms });
    const clock = { now: () => new Date() };
    const delivery = { ...deliveryOf(row, written(anEnvelope({ type })), clock.now()), ...(traces && { traces }) };
    return sendWebhook({ tracer, client, templates: bodyTemplates(), clock, random: () => 0 })(
      prepare(row, ({ data }) => data),
      delivery,
    );
  };

  it("has a span below the first trace of its events, linked to the others, when there is one", async () => {
    const { tracer, spans } = recorder();
    await send({ status: 503, end: "ends" }, "delivery.sent", { tracer, traces: [1, 2, 3].map(tracedBy) });
    await send({ status: 200, end: "ends" }, "delivery.sent", { tracer });
    const [span] = spans;
    expect(spans).to.have.lengthOf(1);
    expect(span).to.deep.include({
      name: "POST",
      parent: tracedBy(1),
      links: [tracedBy(2), tracedBy(3)],
      isEnded: true,
    });
    expect(span?.attributes).to.include({ "http.response.status_code": 503, "herald.endpoint": "whk_1" });
    expect(span?.failures).to.deep.equal(["server_error"]);
  });

  for (const end of ["hangs", "breaks off"] as const) {
    const cases = [
      { status: 410, errorClass: "gone", outcome: "dead" },
      { status: 302, errorClass: "redirect", outcome: "failed" },
      { status: 404, errorClass: "client_error", outcome: "failed" },
      { status: 503, errorClass: "server_error", outcome: "failed" },
    ] as const;
    for (const { status, errorClass, outcome } of cases) {
      it(`is judged by its status ${status} when the answer's body ${end}`, async () => {
        const { result, isGone } = await send({ status, end });
        expect(result.made).to.include({
          response_status: status,
          error_class: errorClass,
          error: `answered ${status}`,
          response_body_excerpt: "partly",
        });
        expect([result.status, isGone]).to.deep.equal([outcome, status === 410]);
      });
    }

    it(`waits as long as a 429 asks for when the answer's body ${end}`, async () => {
      const { result } = await send({ status: 429, headers: { "retry-after": "7200" }, end });
      expect(result.made).to.include({ error_class: "throttled", error: "answered 429" });
      expect((result.due_at?.getTime() ?? 0) - Date.now()).to.be.within(7_190_000, 7_200_000);
    });

    it(`has failed when the body of a 200 ${end}`, async () => {
      const { result } = await send({ status: 200, end });
      expect([result.status, result.made.response_status]).to.deep.equal(["failed", 200]);
      expect(result.made.error).not.to.equal(null);
    });
  }

  it("that is a test never takes the endpoint for gone", async () => {
    const { result, isGone } = await send({ status: 410, end: "ends" }, "webhook.test");
    expect([result.status, isGone]).to.deep.equal(["dead", false]);
  });
});
