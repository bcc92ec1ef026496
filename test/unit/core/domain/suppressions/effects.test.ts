import { expect } from "chai";
import { softBounceEnd, statusBy } from "#core/domain/suppressions/effects.ts";
import { suppressionReasons } from "#core/schema/suppressions/suppression.ts";

const now = new Date("2026-11-22T12:00:00Z");
const daysAgo = (days: number): Date => new Date(now.getTime() - days * 86_400_000);

describe("an address that bounces for now", () => {
  const cases: { it: string; days: number[]; isSuppressed: boolean }[] = [
    { it: "is not suppressed after four bounces", days: [1, 2, 3, 4], isSuppressed: false },
    { it: "is suppressed after five", days: [1, 2, 3, 4, 5], isSuppressed: true },
    { it: "is suppressed after five in two weeks", days: [0, 1, 2, 3, 14], isSuppressed: true },
    { it: "is not suppressed when one of five was before", days: [0, 1, 2, 3, 15], isSuppressed: false },
    { it: "is not suppressed when it never bounced", days: [], isSuppressed: false },
  ];
  for (const { it: name, days, isSuppressed } of cases)
    it(name, () => {
      const end = softBounceEnd(days.map(daysAgo), now);
      expect(end).to.deep.equal(isSuppressed ? daysAgo(-30) : null);
    });
});

describe("what a new entry makes of a subscription", () => {
  it("depends on its reason", () => {
    expect(Object.fromEntries(suppressionReasons.map((reason) => [reason, statusBy(reason)]))).to.deep.equal({
      legal: null,
      complaint: "unsubscribed",
      carrier_opt_out: "unsubscribed",
      hard_bounce: "invalid",
      invalid_address: "invalid",
      unsubscribe: "unsubscribed",
      manual: null,
      soft_bounce: null,
    });
  });
});
