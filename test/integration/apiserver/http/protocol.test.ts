import { request } from "node:http";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import type { Call } from "../../../support/api/api.ts";
import { formOf } from "../../../support/api/form.ts";
import { madeBy } from "../../../support/api/made-by.ts";
import { answered, expectHeaders, nested } from "../../../support/api/reply.ts";
import { requestsOf } from "../../../support/api/requests-of.ts";
import { useSite } from "../../../support/api/site.ts";
import { seedConversation } from "../../../support/rows/conversations.ts";

describe("the protocol", () => {
  const { site, tenant } = useSite(
    { HERALD_OPERATING_TENANT: "operations" },
    {
      tenant: { name: "operations" },
      app: {
        identity_verification: "off", // no example has a token
        quiet_hours: {
          enabled: true,
          start: "22:00",
          end: "08:00",
          days: null,
          timezone: "user",
          channels: null,
          mode: "hold",
        },
      },
    },
  );
  let slow: Promise<string>;

  before(async () => {
    slow = talk(Number(new URL(site.api.url).port), "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "); // takes 10 s
  });

  const call = (method: string, path: string, more: Call = {}) =>
    site.api.call(method, path, { token: tenant.token, ...more });
  const message = () => ({ app_id: tenant.app._id, target: { all: true }, contents: { en: "x" } });
  const users = () => `/v1/apps/${tenant.app._id}/users`;

  it("takes exactly 20 levels, and a body of exactly 2 MB", async () => {
    const deep = await call("PATCH", `${users()}/by/user_id/nobody`, { raw: nested(20) });
    expect(deep.status).to.equal(404); // parsed, then looked for
    const frame = JSON.stringify({ ...message(), name: "" }).length;
    const full = await call("POST", "/v1/notifications", {
      raw: JSON.stringify({ ...message(), name: "n".repeat(2 * 1024 * 1024 - frame) }),
    });
    expect([full.status, full.body.error.details["field"]]).to.deep.equal([400, "name"]);
    const over = await call("POST", "/v1/notifications", {
      raw: JSON.stringify({ ...message(), name: "n".repeat(2 * 1024 * 1024 - frame + 1) }),
    });
    expect(over.status).to.equal(413);
  });

  for (const encoding of ["gzip", "GZIP", "Identity"]) {
    it(`reads a body with the encoding ${encoding}`, async () => {
      const text = JSON.stringify(message());
      const raw = encoding === "Identity" ? text : gzipSync(text);
      const sent = await call("POST", "/v1/notifications", { raw, headers: { "Content-Encoding": encoding } });
      expect(sent.status).to.equal(202);
    });
  }

  it("keeps every character of a text, those beyond the basic plane too", async () => {
    const { status, body } = await call("POST", "/v1/notifications", {
      body: { ...message(), name: "é€😀\u{10ffff}" },
    });
    expect(status).to.equal(202);
    expect((await call("GET", `/v1/notifications/${body.id}`)).body["name"]).to.equal("é€😀\u{10ffff}");
  });

  it("takes the key as Bearer, Key or Basic", async () => {
    for (const scheme of ["Bearer", "bearer", "Key", "Basic"]) {
      const headers = { Authorization: `${scheme} ${tenant.token}` };
      expect((await call("GET", `/v1/notifications?app_id=${tenant.app._id}`, { headers })).status).to.equal(200);
    }
  });

  it("answers HEAD on every GET like GET, without a body", async () => {
    const sent = await call("POST", "/v1/notifications", { body: message() });
    const id = sent.body.id;
    const paths = [
      "/",
      "/healthz",
      "/v1/openapi.json",
      `/v1/notifications?app_id=${tenant.app._id}`,
      `/v1/notifications/${id}`,
      `/v1/notifications/${id}/deliveries`,
    ];
    for (const path of paths) {
      const [head, get] = [await call("HEAD", path), await call("GET", path)];
      expect([head.status, head.text, head.headers.get("Content-Length")]).to.deep.equal([
        200,
        "",
        get.headers.get("Content-Length"),
      ]);
      expectHeaders(head);
    }
    expect((await call("HEAD", "/v1/notifications/msg_none")).status).to.equal(404);
  });

  it("treats an overridden POST as the other method", async () => {
    const { body } = await call("POST", users(), { body: { external_id: "over" } });
    const path = `${users()}/by/user_id/${body.id}`;
    const patched = await call("POST", path, {
      body: { language: "de" },
      headers: { "X-HTTP-Method-Override": "PATCH" },
    });
    expect([patched.status, patched.body["language"]]).to.deep.equal([200, "de"]);
    expect((await call("POST", path, { headers: { "X-HTTP-Method-Override": "DELETE" } })).status).to.equal(200);
    expect((await call("GET", path)).status).to.equal(404);
    const put = await call("POST", path, { body: {}, headers: { "X-HTTP-Method-Override": "PUT" } });
    expect([put.status, put.headers.get("Allow")]).to.deep.equal([405, "HEAD, GET, PATCH, DELETE"]);
  });

  it("keeps a request id that is well formed and makes one that is not", async () => {
    const kept = await call("GET", "/healthz", { headers: { "X-Request-Id": "a.B-1_2" } });
    expect(kept.headers.get("X-Request-Id")).to.equal("a.B-1_2");
    const made = await call("GET", "/healthz", { headers: { "X-Request-Id": "a b" } });
    expect(made.headers.get("X-Request-Id")).to.match(/^[0-9A-Z]{26}$/);
  });

  it("goes on with the caller's trace", async () => {
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const sent = await call("POST", "/v1/notifications", {
      body: message(),
      headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` },
    });
    const row = await site.db.collection("messages").findOne({ _id: sent.body.id as never });
    expect(row?.["traceparent"]).to.match(new RegExp(`^00-${trace}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`));
  });

  it("answers a fault of its own with 500, saying nothing about it", async () => {
    const broken = { _id: "msg_broken", tenant_id: tenant.tenant._id, app_id: tenant.app._id };
    await site.db.collection<{ _id: string }>("messages").insertOne(broken);
    const reply = await call("GET", "/v1/notifications/msg_broken");
    expect([reply.status, reply.body.error.code]).to.deep.equal([500, "HS_INTERNAL_ERROR"]);
    expect(reply.text).to.not.match(/undefined|toISOString|TypeError/);
    expectHeaders(reply);
  });

  it("answers what is not HTTP, and headers that are too large, in the envelope", async () => {
    const port = Number(new URL(site.api.url).port);
    const junk = await talk(port, "NONSENSE\r\n\r\n");
    expect(junk)
      .to.match(/^HTTP\/1.1 400 /)
      .and.include('"code":"HS_VALIDATION_ERROR"')
      .and.include("X-RateLimit-Limit");
    const large = await talk(port, `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${"a".repeat(20_000)}\r\n\r\n`);
    expect(large)
      .to.match(/^HTTP\/1.1 431 /)
      .and.include('"code":"HS_HEADERS_TOO_LARGE"')
      .and.include('"limit_bytes":16384');
  });

  for (const { it: name, request: text, status, code } of [
    { it: "no Host", request: "GET /healthz HTTP/1.1\r\n", status: 400, code: "HS_VALIDATION_ERROR" },
    {
      it: "an expectation that nobody knows",
      request: "GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\n",
      status: 417,
      code: "HS_EXPECTATION_FAILED",
    },
    {
      it: "a query that is not percent-encoded",
      request: "GET /healthz?label=é HTTP/1.1\r\nHost: x\r\n",
      status: 400,
      code: "HS_VALIDATION_ERROR",
    },
    {
      it: "the method CONNECT",
      request: "CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n",
      status: 400,
      code: "HS_VALIDATION_ERROR",
    },
  ]) {
    it(`answers ${name} with ${status}, in the envelope, with every header`, async () => {
      const port = Number(new URL(site.api.url).port);
      expectEnvelope(await talk(port, `${text}Connection: close\r\n\r\n`), status, code);
    });
  }

  it("takes a request of HTTP/1.0 without a Host", async () => {
    const port = Number(new URL(site.api.url).port);
    expect(await talk(port, "GET /healthz HTTP/1.0\r\n\r\n")).to.match(/^HTTP\/1.1 200 /);
  });

  it("answers a body that grows beyond 2 MB without a length, and closes the connection", async () => {
    const status = await stream(site.api.url, tenant.token, 3_000_000);
    expect(status).to.equal(413);
  });

  it("serves its own description, and takes every request that this shows as an example", async () => {
    const { body: document } = await call("GET", "/v1/openapi.json");
    const needMore = /^(testWarehouse|backfillWarehouse|setActivity|forgetActivity|eraseDevice)/; // than there is here
    const examples = requestsOf(document).filter(({ id }) => !needMore.test(id));
    expect(examples.map(({ id }) => id)).to.include.members(["createNotification", "upsertUser", "updateWebhook"]);
    const { _id: tenant_id } = tenant.tenant;
    const known = new Map([
      ["appId", tenant.app._id],
      ["channel", "web_push"],
      ["sdk label", "crm"],
      ["conversationId", (await seedConversation(site.db, { tenant_id, app_id: tenant.app._id })).row._id],
    ]);
    const segments = new Map<string, string>(); // by kind
    const [hourAgo, tomorrow] = [-3_600_000, 86_400_000].map((ms) => new Date(Date.now() + ms).toISOString());
    const mine = { app_id: tenant.app._id, since: hourAgo, send_after: tomorrow };
    for (const { id, method, path, body, isForm } of examples) {
      known.set("segmentId", segments.get(id.endsWith("Members") ? "list" : "filter") ?? "");
      if (id === "mergeUser") await call("POST", `/v1/apps/${tenant.app._id}/users`, { body: userOf(body) });
      const members = Object.entries(mine).filter(([name]) => name in body);
      const whole = { ...body, ...Object.fromEntries(members) };
      const isDevice = path.startsWith("/sdk/");
      const reply = await answered(
        isDevice ? site.api.call : call,
        method,
        path.replaceAll(
          /\{(\w+)\}/g,
          (_, name) => known.get(isDevice ? `sdk ${name}` : name) ?? known.get(name) ?? name,
        ),
        {
          ...(isForm ? formOf(whole as Record<string, string>) : { body: whole }), // sound: a form has texts
          ...(isDevice && {
            headers: { "X-HS-App-Id": tenant.app._id, "X-HS-Subscription-Token": known.get("sdk secret") ?? "" },
          }),
        },
      );
      expect(reply.status, `${id}: ${reply.text}`).to.be.below(300);
      const { subscription_id: own, subscription_token: secret } = reply.body as unknown as Record<string, string>;
      if (id === "registerDevice") known.set("sdk secret", secret ?? "").set("sdk subscriptionId", own ?? "");
      const made = madeBy[id];
      const isOther =
        (id === "registerSubscription" && reply.body["channel"] !== "ios_push") || // it has no live activities
        (id === "createTemplate" && reply.body["kind"] === "partial"); // it is not sent by itself
      if (made !== undefined && !isOther) known.set(made, reply.body.id);
      for (const name of ["channel", "token"])
        if (id.endsWith("Subscription") && !isOther && name in body)
          known.set(name, encodeURIComponent((body as Record<string, string>)[name] ?? ""));
      if (id === "createSegment") segments.set(String(reply.body["kind"]), reply.body.id);
      if (id === "publishEvents") known.set("name", (body as { events: [{ name: string }] }).events[0].name);
      if (id === "upsertUser") known.set("label", "user_id").set("id", reply.body.id);
    }
  }).timeout(120_000); // one request for each example: more with each operation

  it("serves metrics and its readiness on the health port only", async () => {
    const metrics = await (await fetch(`${site.api.healthUrl}/metrics`)).text();
    expect(metrics).to.match(/herald_http_requests_total\{[^}]*route="\/v1\/notifications",method="POST",status="202"/);
    expect((await call("GET", "/metrics")).status).to.equal(404);
    expect((await call("GET", "/readyz")).status).to.equal(404);
  });

  it("answers headers that come too slowly with 408, in the envelope", async () => {
    expectEnvelope(await slow, 408, "HS_REQUEST_TIMEOUT");
  }).timeout(120_000);
});

/** Whom a request to merge names as the one that stays. */
const userOf = (body: object): object => ({ external_id: (body as { into: { id: string } }).into.id });

const expectEnvelope = (answer: string, status: number, code: string): void => {
  expect(answer)
    .to.match(new RegExp(`^HTTP/1.1 ${status} `))
    .and.include(`"code":"${code}"`);
  for (const header of ["X-Request-Id", "Service-Version", "X-RateLimit-Limit"]) {
    expect(answer).to.match(new RegExp(`^${header}: .`, "im"));
  }
};

/** Sends bytes as they are and gives back all that is answered. */
const talk = (port: number, text: string): Promise<string> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(port, "127.0.0.1", () => socket.write(text));
  let answer = "";
  socket.on("data", (chunk) => (answer += chunk.toString()));
  socket.on("close", () => resolve(answer));
  socket.on("error", reject);
  return promise;
};

/** Sends a body of spaces in chunks until it is answered. */
const stream = (url: string, token: string, sizeBytes: number): Promise<number | undefined> => {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const headers = {
    Authorization: `Bearer ${token}`,
    "Content-Type": "application/json",
    "Transfer-Encoding": "chunked",
  };
  const sending = request(`${url}/v1/notifications`, { method: "POST", headers }, (reply) => {
    reply.resume();
    resolve(reply.statusCode);
  });
  sending.on("error", reject);
  for (let sent = 0; sent < sizeBytes; sent += 65_536) sending.write(Buffer.alloc(65_536, 32));
  sending.end();
  return promise;
};
