import { expect } from "chai";
import {
  disabledReasons,
  healthAfter,
  isToDisable,
  noticeDue,
  type WebhookFailure,
  type WebhookHealth,
} from "#core/domain/webhooks/health.ts";

const start = new Date("2026-11-21T12:00:00Z");
const minutes = (n: number) => new Date(start.getTime() + n * 60_000);

const fresh: WebhookHealth = {
  status: "active",
  failure_count: 0,
  streak_since: null,
  failing_since: null,
  last_success_at: null,
  last_failure_at: null,
};

const fail = (health: WebhookHealth, at: Date, died = false) => healthAfter(health, { succeeded: false, died, at });
const succeed = (health: WebhookHealth, at: Date) => healthAfter(health, { succeeded: true, died: false, at });
const failTimes = (times: number, everyMinutes: number) =>
  Array.from({ length: times }, (_, n) => minutes(n * everyMinutes)).reduce((health, at) => fail(health, at), fresh);

describe("the health of an endpoint", () => {
  const streaks: { it: string; times: number; every: number; status: string }[] = [
    { it: "stays active after 9 failures over an hour", times: 9, every: 7, status: "active" },
    { it: "stays active after 100 failures within 10 minutes", times: 100, every: 0.1, status: "active" },
    { it: "is failing after 10 failures over 10 minutes", times: 11, every: 1, status: "failing" },
    { it: "is failing at the tenth failure when it comes after 10 minutes", times: 10, every: 2, status: "failing" },
  ];
  for (const { it: name, times, every, status } of streaks) {
    it(name, () => expect(failTimes(times, every).status).to.equal(status));
  }

  it("is failing since the first failure of the streak", () => {
    expect(failTimes(10, 2).failing_since).to.deep.equal(start);
    expect(failTimes(9, 2).failing_since).to.equal(null);
  });

  it("is failing at once when a delivery is dead", () => {
    expect(fail(fresh, start, true)).to.include({ status: "failing", failing_since: start });
  });

  it("is active again after one success", () => {
    const healed = succeed(failTimes(20, 5), minutes(200));
    expect(healed).to.include({ status: "active", failure_count: 0, failing_since: null, streak_since: null });
    expect(healed.last_success_at).to.deep.equal(minutes(200));
  });

  it("begins a new streak after a success", () => {
    const again = fail(succeed(failTimes(9, 2), minutes(30)), minutes(60));
    expect(again).to.deep.include({ failure_count: 1, streak_since: minutes(60) });
  });

  it("begins a new streak when somebody reset the count", () => {
    expect(fail({ ...fresh, streak_since: start }, minutes(90)).streak_since).to.deep.equal(minutes(90));
  });

  it("never enables a disabled endpoint", () => {
    expect(succeed({ ...fresh, status: "disabled" }, start).status).to.equal("disabled");
    expect(fail({ ...fresh, status: "disabled" }, start, true).status).to.equal("disabled");
  });
});

describe("what is done about a failure that goes on", () => {
  const days = (n: number) => new Date(start.getTime() + n * 86_400_000);
  const failing: WebhookFailure = { status: "failing", failing_since: start, disabled_reason: null, notified: null };
  const disabled: WebhookFailure = { ...failing, status: "disabled", disabled_reason: disabledReasons.failing };
  const notices: { it: string; row: WebhookFailure; day: number; notice: string | null }[] = [
    { it: "is mailed at once", row: failing, day: 0, notice: "failing" },
    { it: "is mailed once", row: { ...failing, notified: "failing" }, day: 6.99, notice: null },
    { it: "is mailed again after 7 days", row: { ...failing, notified: "failing" }, day: 7, notice: "week" },
    { it: "is mailed about the week only, when nothing was mailed before", row: failing, day: 7, notice: "week" },
    { it: "is mailed about the week once", row: { ...failing, notified: "week" }, day: 13, notice: null },
    { it: "is mailed about the disabling", row: { ...disabled, notified: "week" }, day: 14, notice: "disabled" },
    { it: "is mailed about the disabling once", row: { ...disabled, notified: "disabled" }, day: 15, notice: null },
    {
      it: "is mailed about a 410",
      row: { ...disabled, failing_since: null, disabled_reason: disabledReasons.gone },
      day: 0,
      notice: "disabled",
    },
    {
      it: "is not mailed about what the owner did",
      row: { ...disabled, disabled_reason: "disabled by its owner" },
      day: 14,
      notice: null,
    },
    { it: "is not mailed about an active endpoint", row: { ...failing, status: "active" }, day: 0, notice: null },
    { it: "is not mailed twice when the clock goes back", row: { ...failing, notified: "week" }, day: 6, notice: null },
  ];
  for (const { it: name, row, day, notice } of notices) {
    it(name, () => expect(noticeDue(row, days(day))).to.equal(notice));
  }

  it("disables after 14 days, not before", () => {
    expect(isToDisable(failing, new Date(days(14).getTime() - 1))).to.equal(false);
    expect(isToDisable(failing, days(14))).to.equal(true);
    expect(isToDisable({ ...failing, status: "active" }, days(15))).to.equal(false);
  });
});
