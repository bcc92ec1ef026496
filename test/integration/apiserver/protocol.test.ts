import { request } from "node:http";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { type Call, type Installation, installation, type Reply } from "../../support/api.ts";
import { seedTenant } from "../../support/fixtures.ts";

describe("the protocol", () => {
  let site: Installation;
  let tenant: Awaited<ReturnType<typeof seedTenant>>;

  before(async function () {
    this.timeout(60_000);
    site = await installation();
    tenant = await seedTenant(site.db);
  });
  after(() => site.close());

  const call = (method: string, path: string, more: Call = {}) =>
    site.api.call(method, path, { token: tenant.token, ...more });
  const message = () => ({ app_id: tenant.app._id, target: { all: true }, contents: { en: "x" } });
  const users = () => `/v1/apps/${tenant.app._id}/users`;
  const stored = () => site.db.collection("messages").countDocuments();

  const nested = (depth: number): string => `{"properties":${'{"a":'.repeat(depth - 1)}1${"}".repeat(depth - 1)}}`;

  type Case = {
    it: string;
    method?: string;
    path?: () => string;
    call?: () => Call;
    status: number;
    code: string;
    field?: string;
    header?: [string, string];
  };
  const cases: Case[] = [
    { it: "a path that is not there", path: () => "/v1/nothing", status: 404, code: "HS_NOT_FOUND" },
    { it: "a path outside the version", path: () => "/favicon.ico", status: 404, code: "HS_NOT_FOUND" },
    { it: "a path with a slash too many", path: () => "/v1/notifications/", status: 404, code: "HS_NOT_FOUND" },
    {
      it: "a path that is not decodable",
      path: () => "/v1/notifications/%zz",
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "path",
    },
    {
      it: "a method that the path does not have",
      method: "PUT",
      path: () => "/v1/notifications",
      status: 405,
      code: "HS_METHOD_NOT_ALLOWED",
      header: ["Allow", "POST, HEAD, GET"],
    },
    {
      it: "a missing key",
      call: () => ({ token: "", headers: { Authorization: "" } }),
      status: 401,
      code: "HS_UNAUTHENTICATED",
      header: ["WWW-Authenticate", "Bearer"],
    },
    {
      it: "a caller that takes no JSON",
      call: () => ({ headers: { Accept: "text/html" } }),
      status: 406,
      code: "HS_NOT_ACCEPTABLE",
    },
    {
      it: "another major version",
      call: () => ({ headers: { "Service-Version": "2" } }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "header.Service-Version",
    },
    {
      it: "an override on GET",
      call: () => ({ headers: { "X-HTTP-Method-Override": "DELETE" } }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "header.X-HTTP-Method-Override",
    },
    {
      it: "an override to a method that may not be overridden to",
      method: "POST",
      call: () => ({ headers: { "X-HTTP-Method-Override": "GET" }, body: {} }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "header.X-HTTP-Method-Override",
    },
    {
      it: "a body that is not JSON",
      method: "POST",
      call: () => ({ raw: '{"app_id":' }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "body",
    },
    {
      it: "a body that is no object",
      method: "POST",
      call: () => ({ raw: "7" }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "body",
    },
    { it: "no body where one is needed", method: "POST", status: 400, code: "HS_VALIDATION_ERROR", field: "body" },
    {
      it: "a body with __proto__",
      method: "POST",
      call: () => ({ raw: '{"__proto__":{"admin":true}}' }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "body",
    },
    {
      it: "a name with U+0000",
      method: "POST",
      call: () => ({ body: { ...message(), data: { "a\0b": "1" } } }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "body",
    },
    {
      it: "a form",
      method: "POST",
      call: () => ({ raw: "a=1", headers: { "Content-Type": "application/x-www-form-urlencoded" } }),
      status: 415,
      code: "HS_UNSUPPORTED_MEDIA_TYPE",
    },
    {
      it: "a body in UTF-16",
      method: "POST",
      call: () => ({ raw: "{}", headers: { "Content-Type": "application/json; charset=utf-16" } }),
      status: 415,
      code: "HS_UNSUPPORTED_MEDIA_TYPE",
    },
    {
      it: "a body in brotli",
      method: "POST",
      call: () => ({ raw: "{}", headers: { "Content-Encoding": "br" } }),
      status: 415,
      code: "HS_UNSUPPORTED_MEDIA_TYPE",
    },
    {
      it: "a body that says gzip and is not",
      method: "POST",
      call: () => ({ raw: "{}", headers: { "Content-Encoding": "gzip" } }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "body",
    },
    {
      it: "a gzip body that is cut off",
      method: "POST",
      call: () => ({
        raw: gzipSync(JSON.stringify(message())).subarray(0, 40),
        headers: { "Content-Encoding": "gzip" },
      }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "body",
    },
    {
      it: "a body over 2 MB",
      method: "POST",
      call: () => ({ raw: JSON.stringify({ x: "y".repeat(2_200_000) }) }),
      status: 413,
      code: "HS_PAYLOAD_TOO_LARGE",
    },
    {
      it: "a gzip bomb",
      method: "POST",
      call: () => ({ raw: gzipSync(Buffer.alloc(200_000_000, 32)), headers: { "Content-Encoding": "gzip" } }),
      status: 413,
      code: "HS_PAYLOAD_TOO_LARGE",
    },
    {
      it: "nesting deeper than 20",
      method: "PATCH",
      path: () => `${users()}/by/user_id/x`,
      call: () => ({ raw: nested(21) }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "body",
    },
    {
      it: "nesting of a million",
      method: "PATCH",
      path: () => `${users()}/by/user_id/x`,
      call: () => ({ raw: "[".repeat(1_000_000) }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "body",
    },
    {
      it: "a limit of 0",
      path: () => `/v1/notifications?app_id=${tenant.app._id}&limit=0`,
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "limit",
    },
    {
      it: "a limit of 201",
      path: () => `/v1/notifications?app_id=${tenant.app._id}&limit=201`,
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "limit",
    },
    {
      it: "a limit of one and a half",
      path: () => `/v1/notifications?app_id=${tenant.app._id}&limit=1.5`,
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "limit",
    },
    {
      it: "a filter given twice",
      path: () => `/v1/notifications?app_id=${tenant.app._id}&label=a&label=b`,
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "label",
    },
    { it: "a list of no app", status: 400, code: "HS_VALIDATION_ERROR", field: "app_id" },
    {
      it: "a key in the header that is not visible ASCII",
      method: "POST",
      call: () => ({ body: message(), headers: { "Idempotency-Key": "a b" } }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "header.Idempotency-Key",
    },
    {
      it: "two different keys",
      method: "POST",
      call: () => ({ body: { ...message(), idempotency_key: "a" }, headers: { "Idempotency-Key": "b" } }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "idempotency_key",
    },
  ];

  for (const {
    it: name,
    method = "GET",
    path = () => "/v1/notifications",
    call: made,
    status,
    code,
    field,
    header,
  } of cases) {
    it(`answers ${name} with ${status} in the envelope, with every header`, async () => {
      const before = await stored();
      const reply = await call(method, path(), made?.());
      expect([reply.status, reply.body.error.code]).to.deep.equal([status, code]);
      if (field !== undefined) expect(reply.body.error.details["field"]).to.equal(field);
      if (header !== undefined) expect(reply.headers.get(header[0])).to.equal(header[1]);
      expectHeaders(reply);
      expect(reply.headers.get("X-Request-Id")).to.equal(reply.body.error.request_id);
      expect(await stored()).to.equal(before);
    }).timeout(20_000);
  }

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

  it("reads gzip", async () => {
    const raw = gzipSync(JSON.stringify(message()));
    expect((await call("POST", "/v1/notifications", { raw, headers: { "Content-Encoding": "gzip" } })).status).to.equal(
      202,
    );
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
      "/readyz",
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
      .and.include('"field":"header"');
  });

  it("answers a body that grows beyond 2 MB without a length, and closes the connection", async () => {
    const status = await stream(site.api.url, tenant.token, 3_000_000);
    expect(status).to.equal(413);
  });

  it("serves its own description, which names each operation once", async () => {
    const { body } = await call("GET", "/v1/openapi.json");
    const operations = Object.values(body["paths"] as Record<string, Record<string, { operationId: string }>>).flatMap(
      (path) => Object.values(path).map(({ operationId }) => operationId),
    );
    expect(operations).to.include.members(["createNotification", "listDeliveries", "upsertUser"]);
    expect(new Set(operations).size).to.equal(operations.length);
  });

  it("serves metrics on the health port only", async () => {
    const metrics = await (await fetch(`${site.api.healthUrl}/metrics`)).text();
    expect(metrics).to.match(/herald_http_requests_total\{[^}]*route="\/v1\/notifications",method="POST",status="202"/);
    expect((await call("GET", "/metrics")).status).to.equal(404);
  });
});

const expectHeaders = ({ headers }: Reply): void => {
  for (const name of ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]) {
    expect(headers.get(name), name).to.match(/^\d+$/);
  }
  expect(headers.get("Service-Version")).to.equal("1.0.0");
  expect(headers.get("X-Request-Id")).to.match(/^[A-Za-z0-9._-]{1,128}$/);
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
