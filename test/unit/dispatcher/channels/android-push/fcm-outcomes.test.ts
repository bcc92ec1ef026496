import { expect } from "chai";
import { faultOf, type OutcomeKind } from "#core/domain/messages/outcome.ts";
import { type DeliveryErrorCode } from "#core/schema/vocabulary/delivery-error-codes.ts";
import { fcmOutcome, fcmTable } from "../../../../../dispatcher/channels/android-push/fcm-outcomes.ts";

const now = new Date("2026-11-21T08:00:00Z");
type Expected = [OutcomeKind, DeliveryErrorCode];

/** An error as FCM writes it: its own code in the details, when it has one. */
const fcmError = (code: string, message = "", field?: string): string =>
  JSON.stringify({
    error: {
      message,
      status: "ANY",
      details: [
        ...(field === undefined
          ? []
          : [{ "@type": "google.rpc.BadRequest", fieldViolations: [{ field, description: message }] }]),
        { "@type": "google.firebase.fcm.v1.FcmError", errorCode: code },
      ],
    },
  });

const generalError = (status: string, message: string): string => JSON.stringify({ error: { status, message } });

/** Firebase's table of error codes and Google's general ones. */
const documented: [number, string, ...Expected][] = [
  [500, "UNSPECIFIED_ERROR", "retry_at", "PROVIDER_UNAVAILABLE"],
  [400, "INVALID_ARGUMENT", "payload_error", "PROVIDER_REJECTED"],
  [404, "UNREGISTERED", "token_invalid", "TOKEN_UNREGISTERED"],
  [403, "SENDER_ID_MISMATCH", "config_error", "SENDER_MISMATCH"],
  [429, "QUOTA_EXCEEDED", "retry_at", "PROVIDER_RATE_LIMITED"],
  [503, "UNAVAILABLE", "retry_at", "PROVIDER_UNAVAILABLE"],
  [500, "INTERNAL", "retry_at", "PROVIDER_UNAVAILABLE"],
  [401, "THIRD_PARTY_AUTH_ERROR", "config_error", "PROVIDER_AUTH"],
  [401, "UNAUTHENTICATED", "config_error", "PROVIDER_AUTH"],
  [403, "PERMISSION_DENIED", "config_error", "PROVIDER_AUTH"],
  [404, "NOT_FOUND", "config_error", "PROVIDER_AUTH"],
  [429, "RESOURCE_EXHAUSTED", "retry_at", "PROVIDER_RATE_LIMITED"],
  [504, "DEADLINE_EXCEEDED", "retry_at", "PROVIDER_UNAVAILABLE"],
];

const spellings: { it: string; status: number; body: string; expect: Expected }[] = [
  {
    it: "a bad token by the field that it names",
    status: 400,
    body: fcmError("INVALID_ARGUMENT", "Invalid registration token", "message.token"),
    expect: ["token_invalid", "TOKEN_INVALID"],
  },
  {
    it: "a bad token by FCM's sentence",
    status: 400,
    body: fcmError("INVALID_ARGUMENT", "The registration token is not a valid FCM registration token"),
    expect: ["token_invalid", "TOKEN_INVALID"],
  },
  {
    it: "a bad value elsewhere",
    status: 400,
    body: fcmError(
      "INVALID_ARGUMENT",
      "Invalid value at 'message.data[0].value' (TYPE_STRING), 12",
      "message.data[0].value",
    ),
    expect: ["payload_error", "PROVIDER_REJECTED"],
  },
  {
    it: "a message that is too big",
    status: 400,
    body: generalError("INVALID_ARGUMENT", "Android message is too big"),
    expect: ["payload_error", "PAYLOAD_TOO_LARGE"],
  },
  {
    it: "an unregistered token in FCM's sentence",
    status: 404,
    body: fcmError("UNREGISTERED", "Requested entity was not found."),
    expect: ["token_invalid", "TOKEN_UNREGISTERED"],
  },
  {
    it: "a project that is not there by the same sentence without a code of FCM",
    status: 404,
    body: generalError("NOT_FOUND", "Requested entity was not found."),
    expect: ["config_error", "PROVIDER_AUTH"],
  },
  {
    it: "a bad argument that has the same sentence",
    status: 400,
    body: generalError("INVALID_ARGUMENT", "Requested entity was not found."),
    expect: ["payload_error", "PROVIDER_REJECTED"],
  },
  {
    it: "an unregistered token in the words of the older interface",
    status: 400,
    body: generalError("INVALID_ARGUMENT", "NotRegistered"),
    expect: ["token_invalid", "TOKEN_UNREGISTERED"],
  },
  { it: "a page of a proxy", status: 502, body: "<html>Bad gateway", expect: ["retry_at", "PROVIDER_UNAVAILABLE"] },
  {
    it: "an unknown code by its status",
    status: 429,
    body: fcmError("NEW"),
    expect: ["retry_at", "PROVIDER_RATE_LIMITED"],
  },
  { it: "an unknown refusal", status: 400, body: fcmError("NEW"), expect: ["payload_error", "PROVIDER_REJECTED"] },
];

describe("fcmOutcome", () => {
  for (const [status, reason, kind, code] of documented)
    it(`takes ${status} ${reason} as ${kind}, ${code}`, () => {
      const outcome = fcmOutcome({ status, body: fcmError(reason) }, now);
      expect(outcome).to.include({ kind, code, providerCode: `${status} ${reason}` });
      const isOfSome = ["THIRD_PARTY_AUTH_ERROR", "SENDER_ID_MISMATCH", "NOT_FOUND"]; // they may be of single tokens
      const isOfAll = (kind === "config_error" && !isOfSome.includes(reason)) || code === "PROVIDER_UNAVAILABLE";
      expect(faultOf(outcome)).to.equal(isOfAll ? "provider" : null);
    });

  it("has a rule for the documented codes and no others", () => {
    expect(fcmTable.rows.flatMap(({ on }) => (typeof on === "string" ? on : [])).sort()).to.deep.equal(
      documented.map(([, code]) => code).sort(),
    );
  });

  for (const { it: name, status, body, expect: wanted } of spellings)
    it(`recognises ${name}`, () => {
      const [kind, code] = wanted;
      expect(fcmOutcome({ status, body }, now)).to.include({ kind, code });
    });

  it("gives FCM's id of an accepted message", () => {
    const outcome = fcmOutcome({ status: 200, body: '{"name": "projects/p/messages/0:123%45"}' }, now);
    expect(outcome).to.deep.equal({ kind: "sent", providerId: "0:123%45" });
  });

  for (const { status, code, header, seconds } of [
    { status: 429, code: "QUOTA_EXCEEDED", header: undefined, seconds: 60 },
    { status: 429, code: "QUOTA_EXCEEDED", header: "90", seconds: 90 },
    { status: 503, code: "UNAVAILABLE", header: "33", seconds: 33 },
    { status: 500, code: "INTERNAL", header: undefined, seconds: 10 },
  ])
    it(`tries ${code} with Retry-After ${header ?? "left out"} again after ${seconds} s`, () => {
      const reply = { status, body: fcmError(code), ...(header === undefined ? {} : { retryAfter: header }) };
      expect(fcmOutcome(reply, now)).to.deep.include({ at: new Date(now.getTime() + seconds * 1000) });
    });
});
