import { expect } from "chai";
import { twilioErrors } from "#core/channels/kit/twilio/errors.ts";
import { vonageErrors } from "#core/channels/sms/vonage-errors.ts";
import { twilioOutcome, twilioTable } from "../../../../../dispatcher/channels/kit/twilio/outcomes.ts";
import { vonageOutcome, vonageTable } from "../../../../../dispatcher/channels/sms/vonage-outcomes.ts";

const now = new Date("2026-11-22T12:00:00Z");
const number = "+4915112345678";
const twilioSays = (status: number, code?: number) =>
  twilioOutcome({ status, body: JSON.stringify({ code, message: `${number} is refused`, status }) }, now);
const vonageSays = (status: number, code?: string) =>
  vonageOutcome({ status, body: JSON.stringify({ type: `https://developer.vonage.com/api-errors#${code}` }) }, now);

const cases: { it: string; outcome: object; expected: object }[] = [
  {
    it: "Twilio's 21610",
    outcome: twilioSays(400, 21610),
    expected: { kind: "opted_out", code: "RECIPIENT_OPTED_OUT" },
  },
  {
    it: "Twilio's 21211",
    outcome: twilioSays(400, 21211),
    expected: { kind: "token_invalid", code: "RECIPIENT_INVALID" },
  },
  { it: "Twilio's 21614", outcome: twilioSays(400, 21614), expected: { kind: "token_invalid", code: "LANDLINE" } },
  {
    it: "Twilio's 21617",
    outcome: twilioSays(400, 21617),
    expected: { kind: "payload_error", code: "PAYLOAD_TOO_LARGE" },
  },
  {
    it: "Twilio's 21620",
    outcome: twilioSays(400, 21620),
    expected: { kind: "payload_error", code: "MEDIA_UNAVAILABLE" },
  },
  {
    it: "Twilio's 21606",
    outcome: twilioSays(400, 21606),
    expected: { kind: "config_error", code: "SENDER_MISMATCH" },
  },
  {
    it: "Twilio's 21611",
    outcome: twilioSays(429, 21611),
    expected: { kind: "retry_at", code: "PROVIDER_RATE_LIMITED" },
  },
  { it: "Twilio's 20003", outcome: twilioSays(401, 20003), expected: { kind: "config_error", fault: "provider" } },
  {
    it: "Twilio's 20429",
    outcome: twilioSays(429, 20429),
    expected: { kind: "retry_at", code: "PROVIDER_RATE_LIMITED" },
  },
  {
    it: "a code that nobody knows",
    outcome: twilioSays(400, 29999),
    expected: { kind: "payload_error", providerCode: "29999" },
  },
  {
    it: "a status alone",
    outcome: twilioSays(503),
    expected: { kind: "retry_at", providerCode: "503", fault: "provider" },
  },
  { it: "no JSON", outcome: twilioOutcome({ status: 502, body: "<html>" }, now), expected: { kind: "retry_at" } },
  { it: "Vonage's 1240", outcome: vonageSays(422, "1240"), expected: { kind: "opted_out", providerCode: "1240" } },
  {
    it: "Vonage's 1170",
    outcome: vonageSays(422, "1170"),
    expected: { kind: "token_invalid", code: "RECIPIENT_INVALID" },
  },
  {
    it: "Vonage's 1120",
    outcome: vonageSays(422, "1120"),
    expected: { kind: "config_error", code: "SENDER_MISMATCH" },
  },
  {
    it: "Vonage's 1000",
    outcome: vonageSays(429, "1000"),
    expected: { kind: "retry_at", code: "PROVIDER_RATE_LIMITED" },
  },
  { it: "an account without credit", outcome: vonageSays(402, "low-balance"), expected: { kind: "config_error" } },
  {
    it: "a refused key",
    outcome: vonageSays(401, "unauthorized"),
    expected: { kind: "config_error", fault: "provider" },
  },
  { it: "a fault of Vonage", outcome: vonageSays(500), expected: { kind: "retry_at", fault: "provider" } },
];

describe("an answer to a text message", () => {
  for (const { it: name, outcome, expected } of cases) {
    it(`means ${JSON.stringify(expected)} with ${name}, and names no number`, () => {
      expect(outcome).to.include(expected);
      expect(JSON.stringify(outcome)).not.to.contain(number);
    });
  }

  it("with a message's id says that it was sent", () => {
    expect(twilioOutcome({ status: 201, body: '{"sid":"SM1"}' }, now)).to.deep.equal({
      kind: "sent",
      providerId: "SM1",
    });
    const body = '{"message_uuid":"a"}';
    expect(vonageOutcome({ status: 202, body }, now)).to.deep.equal({ kind: "sent", providerId: "a" });
  });

  it("has one row for each documented code, with a source", () => {
    for (const [table, errors] of [
      [twilioTable, twilioErrors],
      [vonageTable, vonageErrors],
    ] as const) {
      expect(table.rows).to.have.length.greaterThan(Object.keys(errors).length);
      for (const source of table.sources) expect(source).to.match(/^https:\/\//);
    }
  });
});
