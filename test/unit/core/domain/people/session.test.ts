import { expect } from "chai";
import { adSessionEnd, isSessionOpen, isSessionRefused, sessionEnd } from "#core/domain/people/session.ts";

const wroteAt = new Date("2026-11-22T12:00:00Z");
const after = (ms: number): Date => new Date(wroteAt.getTime() + ms);
const hourMs = 3_600_000;

describe("a session on WhatsApp", () => {
  for (const { it: when, ms, isOpen } of [
    { it: "at once", ms: 0, isOpen: true },
    { it: "a millisecond before 24 hours less a minute", ms: 24 * hourMs - 60_001, isOpen: true },
    { it: "at 24 hours less a minute", ms: 24 * hourMs - 60_000, isOpen: false },
    { it: "after 24 hours", ms: 24 * hourMs, isOpen: false },
  ])
    it(`is ${isOpen ? "open" : "closed"} ${when} after the last message`, () => {
      expect(isSessionOpen(sessionEnd(wroteAt), after(ms))).to.equal(isOpen);
    });

  it("is closed for somebody who never wrote, or whose session was closed", () => {
    expect(isSessionOpen(undefined, wroteAt)).to.equal(false);
    expect(isSessionOpen(null, wroteAt)).to.equal(false);
  });

  for (const { it: what, sent, until, end } of [
    { it: "is 72 hours from the first answer to an advertisement's message", sent: 2, until: null, end: 74 },
    { it: "is not prolonged by a further answer", sent: 3, until: 74, end: null },
    { it: "is prolonged by the answer to a later advertisement", sent: 2, until: 71, end: 74 },
    { it: "is not prolonged by an answer after a day", sent: 24, until: null, end: null },
    { it: "is not prolonged by what was sent before", sent: -1, until: null, end: null },
  ])
    it(what, () => {
      const known = { ad_clicked_at: wroteAt, ad_session_until: until === null ? null : after(until * hourMs) };
      expect(adSessionEnd(known, after(sent * hourMs))).to.deep.equal(end === null ? null : after(end * hourMs));
      expect(adSessionEnd({}, after(sent * hourMs))).to.equal(null);
    });

  it("is what a provider's refusal means, unless the person has written since", () => {
    const refusedAt = after(hourMs);
    const [begun, later, byAd] = [after(24 * hourMs), after(26 * hourMs), after(73 * hourMs)];
    expect(isSessionRefused({ session_expires_at: begun }, refusedAt)).to.equal(true);
    expect(isSessionRefused({ session_expires_at: later }, refusedAt)).to.equal(false);
    expect(isSessionRefused({ session_expires_at: byAd, ad_session_until: byAd }, refusedAt)).to.equal(true);
    expect(isSessionRefused({ session_expires_at: null, ad_session_until: byAd }, refusedAt)).to.equal(false);
  });
});
