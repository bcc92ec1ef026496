import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { type Call, type Installation, installation } from "../../support/api.ts";
import { seedTenant } from "../../support/fixtures.ts";
import { expectHeaders, nested } from "../../support/reply.ts";

describe("a request that is refused", () => {
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
  const stored = () => site.db.collection("messages").countDocuments();

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
      it: "a body that is not JSON, for an app that is not there,",
      method: "POST",
      path: () => "/v1/apps/app_nobody/webhooks",
      call: () => ({ raw: "{" }),
      status: 404,
      code: "HS_NOT_FOUND",
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
      method: "POST",
      call: () => ({ raw: nested(21) }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "body",
    },
    {
      it: "nesting of a million",
      method: "POST",
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
});
