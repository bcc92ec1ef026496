import { expect } from "chai";
import { maxWebhookRequests, nextRequestAt } from "#core/domain/webhooks/retry.ts";

const now = new Date("2026-11-21T12:00:00Z");
const seconds = (at: Date | null) => at && (at.getTime() - now.getTime()) / 1000;
const in_ = (s: number) => new Date(now.getTime() + s * 1000);

const gaps: { requests: number; least: number | null; most: number | null }[] = [
  { requests: 1, least: 60, most: 66 },
  { requests: 2, least: 300, most: 330 },
  { requests: 3, least: 1200, most: 1320 },
  { requests: 4, least: 4800, most: 5280 },
  { requests: 5, least: 21_600, most: 23_760 },
  { requests: 6, least: 86_400, most: 86_400 },
  { requests: 7, least: null, most: null },
];

describe("the next request of a webhook delivery", () => {
  for (const { requests, least, most } of gaps) {
    it(`comes ${least === null ? "never" : `${least} to ${most} s`} after ${requests} failed ones`, () => {
      expect(seconds(nextRequestAt(requests, now, null, () => 0))).to.equal(least);
      const latest = seconds(nextRequestAt(requests, now, null, () => 1));
      if (most === null) expect(latest).to.equal(null);
      else expect(latest).to.be.closeTo(most, 0.01);
    });
  }

  it("is one of seven", () => {
    expect(maxWebhookRequests).to.equal(7);
  });

  const asked: { it: string; after: Date; expected: number }[] = [
    { it: "waits as long as the endpoint asks for", after: in_(7200), expected: 7200 },
    { it: "does not come earlier than the schedule", after: in_(1), expected: 60 },
    { it: "does not wait longer than a day", after: in_(900_000), expected: 86_400 },
  ];
  for (const { it: name, after, expected } of asked) {
    it(name, () => expect(seconds(nextRequestAt(1, now, after, () => 0))).to.equal(expected));
  }

  it("does not come when the requests are used up, whatever the endpoint asks for", () => {
    expect(nextRequestAt(7, now, in_(60), () => 0)).to.equal(null);
  });
});
