import { expect } from "chai";
import { blankState, type ConversationState } from "#core/domain/conversations/conversation.ts";
import { type ConversationRules, isCurrent, received } from "#core/domain/conversations/receive.ts";
import { hourMs } from "#core/domain/durations.ts";

const now = new Date("2026-11-27T12:00:00Z");
const hours = (count: number): Date => new Date(now.getTime() + count * hourMs);
const wrote = (at: Date, more: { name?: string; isFromAd?: boolean } = {}) => ({
  at,
  name: null,
  isFromAd: false,
  ...more,
});
const after = (before: Partial<ConversationState>, ...messages: ReturnType<typeof wrote>[]) =>
  received({ ...blankState, ...before }, messages, { session: { until: null }, now });

describe("a conversation after messages of its person", () => {
  it("is open and unread, and somebody waits since the oldest", () => {
    const read = { status: "snoozed", snoozed_until: hours(3), unread_count: 2, message_count: 9 } as const;
    expect(after(read, wrote(hours(-1)), wrote(hours(-2)))).to.include({
      status: "open",
      snoozed_until: null,
      unread_count: 4,
      message_count: 11,
    });
    expect(after(read, wrote(hours(-1)), wrote(hours(-2))).waiting_since).to.deep.equal(hours(-2));
    expect(after({ waiting_since: hours(-5) }, wrote(hours(-1))).waiting_since).to.deep.equal(hours(-5));
  });

  it("has the last name that was told", () => {
    const named = after(
      { contact_name: "A" },
      wrote(hours(-1), { name: "C" }),
      wrote(hours(-2), { name: "B" }),
      wrote(now),
    );
    expect(named.contact_name).to.equal("C");
    expect(after({ contact_name: "A" }, wrote(now)).contact_name).to.equal("A");
  });

  const sessions: { it: string; before: Date | null; at: Date; end: Date }[] = [
    { it: "begins a session", before: null, at: hours(-1), end: hours(23) },
    { it: "prolongs it", before: hours(2), at: hours(0), end: hours(24) },
    { it: "never shortens it, when it comes late", before: hours(20), at: hours(-10), end: hours(20) },
    { it: "may be over when it comes", before: null, at: hours(-30), end: hours(-6) },
    { it: "is not believed to be of later", before: null, at: hours(50), end: hours(24) },
  ];
  for (const { it: what, before, at, end } of sessions)
    it(`has a session: a message ${what}`, () => {
      const state = after({ session_expires_at: before, session_origin: before && "user_message" }, wrote(at));
      expect(state.session_expires_at).to.deep.equal(end);
      expect(state.session_origin).to.equal("user_message");
      expect(state.last_inbound_at).to.deep.equal(at < now ? at : now);
    });

  it("says when an advertisement began the session, for as long as it lasts", () => {
    const begun = after({}, wrote(hours(-1), { isFromAd: true }));
    expect(begun.session_origin).to.equal("click_to_ad");
    expect(received(begun, [wrote(now)], { session: { until: null }, now }).session_origin).to.equal("click_to_ad");
    const prolonged = { session: { until: hours(30) }, now: hours(26) };
    expect(received(begun, [wrote(hours(25))], prolonged).session_origin).to.equal("click_to_ad");
    const over = { ...begun, session_expires_at: hours(-1) };
    expect(received(over, [wrote(now)], { session: { until: null }, now }).session_origin).to.equal("user_message");
  });

  it("has no session where its channel has none", () => {
    expect(received(blankState, [wrote(now)], { session: null, now }).session_expires_at).to.equal(null);
  });
});

describe("a conversation that is closed", () => {
  const rules = { reopen: "within_hours", reopen_hours: 24 } as const;

  it("is the one that goes on for a day, or as the app says", () => {
    const closed = (at: Date, over: Partial<Pick<ConversationRules, "reopen" | "reopen_hours">> = {}) =>
      isCurrent({ status: "closed", closed_at: at }, { ...rules, ...over }, now);
    expect([closed(hours(-23.9)), closed(hours(-24))]).to.deep.equal([true, false]);
    expect([closed(hours(-24), { reopen_hours: 25 }), closed(now, { reopen_hours: 0 })]).to.deep.equal([true, false]);
    expect([closed(hours(-999), { reopen: "same" }), closed(now, { reopen: "new" })]).to.deep.equal([true, false]);
    expect(isCurrent({ status: "snoozed", closed_at: null }, { ...rules, reopen: "new" }, now)).to.equal(true);
  });
});
