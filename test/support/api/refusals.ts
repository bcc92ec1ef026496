import { gzipSync } from "node:zlib";
import type { Call } from "./api.ts";
import { nested } from "./reply.ts";

/** A request that is refused, and how; to the list of notifications and with a good key unless it says otherwise. */
export type Refusal = {
  it: string;
  method?: string;
  path?: () => string;
  call?: () => Call;
  status: number;
  code: string;
  field?: string;
  message?: string;
  header?: [string, string];
};

/** Refusals for the form of a body. `message` makes one that would be accepted. */
export const bodyRefusals = (message: () => object): Refusal[] => [
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
    message: "has a member with the reserved name __proto__",
  },
  {
    it: "bytes that are not UTF-8",
    method: "POST",
    call: () => ({ raw: withBytes({ ...message(), name: "a?b" }, 0xe9) }),
    status: 400,
    code: "HS_VALIDATION_ERROR",
    field: "body",
    message: "is not valid UTF-8",
  },
  {
    it: "a surrogate pair that is written as two characters of three bytes each",
    method: "POST",
    call: () => ({ raw: withBytes({ ...message(), name: "a?b" }, 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80) }),
    status: 400,
    code: "HS_VALIDATION_ERROR",
    field: "body",
    message: "is not valid UTF-8",
  },
  {
    it: "half of a surrogate pair in a text",
    method: "POST",
    call: () => ({ body: { ...message(), labels: ["a", "b\ud83d"] } }),
    status: 400,
    code: "HS_VALIDATION_ERROR",
    field: "labels[1]",
    message: "has half of a surrogate pair, which is no character",
  },
  {
    it: "half of a surrogate pair in a name",
    method: "POST",
    call: () => ({ body: { ...message(), data: { "\ude00": "1" } } }),
    status: 400,
    code: "HS_VALIDATION_ERROR",
    field: "data",
    message: "has a member name with half of a surrogate pair, which is no character",
  },
  {
    it: "a text with U+0000",
    method: "POST",
    call: () => ({ body: { ...message(), data: { order: ["a", "b\0"] } } }),
    status: 400,
    code: "HS_VALIDATION_ERROR",
    field: "data.order[1]",
    message: "has the character U+0000",
  },
  {
    it: "a member that is named twice, however it is written",
    method: "POST",
    call: () => ({ raw: `${JSON.stringify(message()).slice(0, -1)},"data":{"a":[{"b\\"":1, "b\\u0022" : 2}]}}` }),
    status: 400,
    code: "HS_VALIDATION_ERROR",
    field: 'data.a[0].b"',
    message: "is named twice",
  },
  {
    it: "a name with U+0000",
    method: "POST",
    call: () => ({ body: { ...message(), data: { "a\0b": "1" } } }),
    status: 400,
    code: "HS_VALIDATION_ERROR",
    field: "data",
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
];

/** A body as JSON, with bytes of its own for the question mark. */
const withBytes = (body: object, ...bytes: number[]): Uint8Array => {
  const [before = "", after = ""] = JSON.stringify(body).split("?");
  return Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
};
