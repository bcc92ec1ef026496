import { IncomingMessage, type RequestListener, ServerResponse } from "node:http";
import { Duplex } from "node:stream";
import { expect } from "chai";
import { MongoServerError } from "mongodb";
import { pino } from "pino";
import { Type } from "typebox";
import { NotFound } from "#core/errors.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { noTracer } from "#core/runtime/tracing/tracer.ts";
import { Closed } from "#core/schema/json/common.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { unauthenticated } from "../../../../../apiserver/access/authenticate.ts";
import { feature } from "../../../../../apiserver/http/feature.ts";
import { appOfPath } from "../../../../../apiserver/http/locate.ts";
import { requestTraces } from "../../../../../apiserver/http/request-traces.ts";
import { routeOf } from "../../../../../apiserver/http/route.ts";
import { app } from "../../../../../apiserver/http/server/app.ts";
import { requireFeature } from "../../../../../apiserver/limits/plan-rules.ts";
import { rateState } from "../../../../../apiserver/limits/rate.ts";
import { anApiKey, anApp, aPlan, aTenant } from "../../../../support/rows/fixtures.ts";
import { handClock } from "../../../../support/rows/work.ts";

type TestRequest = { method?: string; path: string; token?: string; body?: object };

/** Has a listener answer a request without a connection: the reply's status and body. */
const ask = async (answer: RequestListener, { method = "GET", path, token, body }: TestRequest) => {
  let sent = "";
  const write = (chunk: Buffer, _: unknown, done: () => void): void => {
    sent += chunk.toString();
    done();
  };
  const socket = new Duplex({ read: () => undefined, write });
  const text = body === undefined ? "" : JSON.stringify(body);
  // sound: a request reads from its socket only what the parser pushes, which is done here
  const request = new IncomingMessage(socket as ConstructorParameters<typeof IncomingMessage>[0]);
  Object.assign(request, { method, url: path, httpVersion: "1.1", complete: true });
  Object.assign(request.headers, {
    host: "herald",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(text !== "" && { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) }),
  });
  if (text !== "") request.push(text);
  request.push(null);
  const response = new ServerResponse(request);
  response.assignSocket(request.socket);
  const finished = new Promise((resolve) => response.once("finish", resolve));
  answer(request, response);
  await finished;
  const reply = JSON.parse(sent.slice(sent.indexOf("\r\n\r\n") + 4)) as Record<string, unknown>; // as Koa wrote it
  return { status: response.statusCode, reply, head: sent.slice(0, sent.indexOf("\r\n\r\n")) };
};

const codeOf = ({ reply }: { reply: Record<string, unknown> }) =>
  (reply["error"] as { code?: string } | undefined)?.code;

describe("the REST interface", () => {
  const tenant = aTenant();
  const ours = anApp({ tenant_id: tenant._id });
  const clock = handClock();

  type Use = { paint: (of: AppRow, color: string) => string };
  const route = routeOf<Use>({ tag: "Paints", scopes: ["events:write"] });
  const paints = feature({
    make: ({ prefix }: { prefix: string }): Use => ({ paint: ({ _id }, color) => `${prefix} ${color} for ${_id}` }),
    routes: [
      route({
        id: "paint",
        method: "POST",
        path: "/v1/apps/{appId}/paints",
        summary: "Paint",
        body: Closed({ color: Type.Enum(["red", "blue"]) }),
        reply: Type.Object({ done: Type.String() }),
        locate: appOfPath,
        feature: "ab_testing",
        handle: async ({ use, resource, body }) => ({ body: { done: use.paint(resource, body.color) } }),
      }),
    ],
  });

  /** The interface with a caller of these scopes and of this plan. */
  const rest = ({ scopes = ["events:write"], plan = "large", tokens = 1 } = {}): RequestListener => {
    const { row } = anApiKey({ tenant_id: tenant._id });
    const key = { ...row, scopes: scopes as typeof row.scopes };
    return app({
      outside: [],
      routes: paints.bind({ prefix: "much" }),
      findDevice: () => expect.fail("no device calls"),
      authenticate: async (token) => {
        if (token !== "good") throw unauthenticated("invalid");
        return { key, tenant, plan: aPlan({ _id: plan, ...(plan === "small" && { features: ["webhooks"] }) }) };
      },
      used: () => undefined,
      findApp: async (_caller, id) => {
        if (id === "app_slow") throw new MongoServerError({ message: "operation exceeded time limit", code: 50 });
        if (id !== ours._id) throw new NotFound("app");
        return ours;
      },
      requireFeature: requireFeature(async () => [aPlan()]),
      takeToken: async (_key, perSecond) => {
        const state = rateState({ capacity: perSecond, perSecond }, tokens, tokens > 0);
        return { ...state, isDegraded: false };
      },
      takeFrom: () => expect.fail("the edge has no limit"),
      once: { isAnswered: async () => false, answer: () => expect.fail("nobody gave a key") },
      traces: requestTraces({ tracer: noTracer, isOn: false, ratio: 0, callersPerSecond: 0, random: () => 0, clock }),
      edge: { perSecond: 0, burst: 0 },
      countUsage: () => undefined,
      trustedProxies: 0,
      timeoutMs: 1_000,
      publicUrl: "https://api.example.com",
      isStopping: () => false,
      clock,
      log: pino({ level: "silent" }),
      metrics: createMetrics("apiserver"),
    }).callback();
  };
  const path = `/v1/apps/${ours._id}/paints`;

  it("answers by the use cases that the feature made of the platform", async () => {
    const { status, reply } = await ask(rest(), { method: "POST", path, token: "good", body: { color: "red" } });
    expect([status, reply]).to.deep.equal([200, { done: `much red for ${ours._id}` }]);
  });

  it("lets nobody keep, guess or frame a reply, whatever it says", async () => {
    for (const asked of [{ method: "POST", path, token: "good", body: { color: "red" } }, { path: "/v1/nothing" }]) {
      const { head } = await ask(rest(), asked);
      for (const header of [
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
        "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
        "Referrer-Policy: no-referrer",
        "Strict-Transport-Security: max-age=31536000",
      ])
        expect(head).to.include(`\r\n${header}`);
    }
  });

  it("says so when the database ended a read that took too long", async () => {
    const { status, reply } = await ask(rest(), { ...worst, path: "/v1/apps/app_slow/paints", token: "good" });
    expect([status, codeOf({ reply })]).to.deep.equal([504, "HS_TIMEOUT"]);
  });

  // Each request is wrong in all that is checked from there on, and the first of it is what the reply says.
  const worst = { method: "POST", path: "/v1/apps/app_theirs/paints", token: "bad", body: { color: "green" } };
  for (const { it: what, of, asks, says } of [
    { it: "an unknown path first", of: {}, asks: { path: "/v1/nothing" }, says: "HS_NOT_FOUND" },
    { it: "then the method", of: {}, asks: { method: "GET" }, says: "HS_METHOD_NOT_ALLOWED" },
    { it: "then the token", of: { tokens: 0 }, asks: {}, says: "HS_UNAUTHENTICATED" },
    { it: "then the rate", of: { tokens: 0 }, asks: { token: "good" }, says: "HS_RATE_LIMITED" },
    { it: "then the app", of: { scopes: [] }, asks: { token: "good" }, says: "HS_NOT_FOUND" },
    { it: "then the scope", of: { scopes: [], plan: "small" }, asks: { token: "good", path }, says: "HS_FORBIDDEN" },
    { it: "then the plan", of: { plan: "small" }, asks: { token: "good", path }, says: "HS_PLAN_FEATURE_REQUIRED" },
    { it: "then the body", of: {}, asks: { token: "good", path }, says: "HS_VALIDATION_ERROR" },
  ] as const) {
    it(`checks ${what}`, async () => {
      const site = rest(of as Parameters<typeof rest>[0]);
      expect(codeOf(await ask(site, { ...worst, ...asks }))).to.equal(says);
    });
  }
});
