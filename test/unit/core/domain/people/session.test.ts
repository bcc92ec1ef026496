import { expect } from "chai";
import { isSessionOpen, sessionEnd } from "#core/domain/people/session.ts";

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
});
