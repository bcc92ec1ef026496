import { expect } from "chai";
import { type Call } from "../../../support/api/api.ts";
import { bodyRefusals, type Refusal } from "../../../support/api/refusals.ts";
import { expectHeaders } from "../../../support/api/reply.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";

describe("a request that is refused", () => {
  const { site, tenant } = useSharedSite();

  const call = (method: string, path: string, more: Call = {}) =>
    site.api.call(method, path, { token: tenant.token, ...more });
  const message = () => ({ app_id: tenant.app._id, target: { all: true }, contents: { en: "x" } });
  const stored = () => site.db.collection("messages").countDocuments();

  const cases: Refusal[] = [
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
    ...bodyRefusals(message),
    {
      it: "a query that is not UTF-8",
      path: () => `/v1/notifications?app_id=${tenant.app._id}&label=%E9`,
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "query",
    },
    {
      it: "a method that a name has not, though a parameter in its place has it,",
      method: "DELETE",
      path: () => `/v1/apps/${tenant.app._id}/webhooks/event-types`,
      status: 405,
      code: "HS_METHOD_NOT_ALLOWED",
      header: ["Allow", "HEAD, GET"],
    },
    {
      it: "an empty idempotency key",
      method: "POST",
      call: () => ({ body: message(), headers: { "Idempotency-Key": "" } }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "header.Idempotency-Key",
    },
    {
      it: "an override that names no method",
      method: "POST",
      call: () => ({ body: message(), headers: { "X-HTTP-Method-Override": "" } }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "header.X-HTTP-Method-Override",
    },
    {
      it: "an empty version",
      call: () => ({ headers: { "Service-Version": "" } }),
      status: 400,
      code: "HS_VALIDATION_ERROR",
      field: "header.Service-Version",
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
    message: said,
    header,
  } of cases) {
    it(`answers ${name} with ${status} in the envelope, with every header`, async () => {
      const before = await stored();
      const reply = await call(method, path(), made?.());
      expect([reply.status, reply.body.error.code]).to.deep.equal([status, code]);
      if (field !== undefined) expect(reply.body.error.details["field"]).to.equal(field);
      if (said !== undefined) expect(reply.body.error.details["message"]).to.equal(said);
      if (header !== undefined) expect(reply.headers.get(header[0])).to.equal(header[1]);
      expectHeaders(reply);
      expect(reply.headers.get("X-Request-Id")).to.equal(reply.body.error.request_id);
      expect(await stored()).to.equal(before);
    });
  }
});
