import { expect } from "chai";
import { meanings, type OutcomeTable, outcomeOf } from "../../../../../dispatcher/channels/kit/outcomes.ts";

const now = new Date("2026-11-22T12:00:00Z");
const inSeconds = (seconds: number): Date => new Date(now.getTime() + seconds * 1_000);

const table: OutcomeTable = {
  sources: [],
  rows: [
    { on: "Busy", says: [/tomorrow/], ...meanings.limited },
    { on: "Busy", ...meanings.unavailable },
    { on: "Slow", kind: "retry_at", code: "SOFT_BOUNCE" },
    { on: /^410/, ...meanings.tokenGone, reason: "it is gone" },
  ],
  otherwise: meanings.rejected,
  refused: "it refused the push",
  toEveryone: /^421/,
  pausesMs: { SOFT_BOUNCE: 300_000 },
};

describe("an outcome table", () => {
  const cases = [
    {
      it: "lets the first row decide that fits in word and text",
      answer: { code: "503 Busy", word: "Busy", text: "come tomorrow" },
      expect: { code: "PROVIDER_RATE_LIMITED", at: inSeconds(60) },
    },
    {
      it: "goes on to the next when the text is about something else",
      answer: { code: "503 Busy", word: "Busy" },
      expect: { code: "PROVIDER_UNAVAILABLE", at: inSeconds(10), fault: "provider" },
    },
    {
      it: "takes the instant that the provider names before its own pause",
      answer: { code: "503 Busy", word: "Busy", retryAfter: "33" },
      expect: { at: inSeconds(33) },
    },
    { it: "has pauses of its own", answer: { code: "451 Slow", word: "Slow" }, expect: { at: inSeconds(300) } },
    {
      it: "keeps since when an address is gone, and the reason of the row",
      answer: { code: "410", since: now },
      expect: { kind: "token_invalid", since: now, reason: "it is gone" },
    },
    {
      it: "says what is not in it by the word",
      answer: { code: "400 New", word: "New" },
      expect: { kind: "payload_error", reason: "it refused the push: New", providerCode: "400 New" },
    },
    {
      it: "blames the provider for what everyone is answered",
      answer: { code: "421 Busy", word: "Slow" },
      expect: { fault: "provider" },
    },
  ];
  for (const { it: what, answer, expect: wanted } of cases)
    it(what, () => expect(outcomeOf(table, answer, now)).to.deep.include(wanted));
});
