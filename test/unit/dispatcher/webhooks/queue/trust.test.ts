import { expect } from "chai";
import type { WebhookErrorClass } from "#core/schema/vocabulary/webhook-errors.ts";
import { healthOf } from "#core/storage/webhooks/webhooks.ts";
import { probes } from "../../../../../dispatcher/webhooks/queue/probes.ts";
import { type Trust, trust } from "../../../../../dispatcher/webhooks/queue/trust.ts";
import { aWebhook } from "../../../../support/rows/webhooks.ts";

const answered = { failure_count: 0, last_success_at: new Date(0) };
const neverAnswered = { failure_count: 0, last_success_at: null };
const failedLast = { failure_count: 3, last_success_at: new Date(0) };

const of = (over: typeof answered | typeof neverAnswered): Trust => trust(healthOf(aWebhook(over)));

const note = (one: Trust, count: number, errorClass: WebhookErrorClass | null): void => {
  for (let n = 0; n < count; n++) one.note({ error_class: errorClass });
};

describe("the trust in an endpoint", () => {
  for (const { it: sentence, before, isTrusted, underWay } of [
    { it: "gives all places to one that answered last", before: answered, isTrusted: true, underWay: 20 },
    { it: "gives four places to one that never answered", before: neverAnswered, isTrusted: false, underWay: 4 },
    { it: "tries one that failed last with one request first", before: failedLast, isTrusted: false, underWay: 1 },
  ])
    it(sentence, () => {
      const one = of(before);
      expect([one.isTrusted(), one.mostUnderWay(20)]).to.deep.equal([isTrusted, underWay]);
    });

  it("outlasts one failure among its last twenty requests, and ten, but not eleven", () => {
    const one = of(answered);
    note(one, 20, null);
    note(one, 10, "server_error");
    expect(one.isTrusted()).to.equal(true);
    note(one, 1, "server_error");
    expect([one.isTrusted(), one.mostUnderWay(20), one.mostUnderWay(2)]).to.deep.equal([false, 4, 2]);
    note(one, 10, null);
    expect(one.isTrusted()).to.equal(true);
  });

  it("ends with a time-out, until another request ends in time: one request at once meanwhile", () => {
    const one = of(answered);
    note(one, 20, null);
    note(one, 1, "timeout");
    expect([one.isTrusted(), one.mostUnderWay(20)]).to.deep.equal([false, 1]);
    note(one, 1, null);
    expect([one.isTrusted(), one.mostUnderWay(20)]).to.deep.equal([true, 20]);
  });
});

describe("the places for requests to endpoints that are not trusted", () => {
  it("are all taken once as many requests are under way that need one, and are given back", () => {
    const two = probes(2);
    const [end, endOther, endTrusted] = [two.begin(true), two.begin(true), two.begin(false)];
    expect(two.isFull()).to.equal(true);
    expect([endTrusted(), end(), two.isFull(), endOther()]).to.deep.equal([false, true, false, false]);
  });
});
