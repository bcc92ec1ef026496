import { expect } from "chai";
import { noUsage } from "#core/domain/usage/figures.ts";
import { type UsageStatus, usageStatus } from "../../../../../operator/policies/tenants/usage.ts";

describe("what a Tenant's status says of its usage", () => {
  const now = new Date("2026-11-23T12:00:00Z");
  const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString();
  const figures = (requests: number, webhookBacklog = 0) => {
    const counts = { ...noUsage(), requests };
    return { last_hour: counts, this_month: { ...counts, webhook_requests: 123_456 }, webhookBacklog };
  };
  const written = (requests: number, updatedAt: string): UsageStatus => {
    const status = usageStatus(figures(requests), undefined, new Date(updatedAt));
    return status ?? expect.fail("nothing was written");
  };

  it("is the figures to two digits", () => {
    const status = usageStatus(figures(12_345, 109), undefined, now);
    expect(status?.lastHour.requests).to.equal(12_000);
    expect(status?.thisMonth.webhookRequests).to.equal(120_000);
    expect(status?.webhookBacklog).to.equal(100);
    expect(written(99, minutesAgo(0)).lastHour.requests).to.equal(99);
  });

  const before = written(12_345, minutesAgo(5));
  const cases: { it: string; given: Parameters<typeof usageStatus>; expected: UsageStatus | undefined }[] = [
    { it: "stays while nothing is known", given: [null, before, now], expected: before },
    { it: "stays while its digits do", given: [figures(12_999), before, now], expected: before },
    {
      it: "changes with its digits",
      given: [figures(13_000), before, now],
      expected: { ...written(13_000, now.toISOString()) },
    },
    {
      it: "does not change within a minute",
      given: [figures(13_000), written(12_345, minutesAgo(0.5)), now],
      expected: written(12_345, minutesAgo(0.5)),
    },
    {
      it: "is absent for who never used anything",
      given: [{ last_hour: noUsage(), this_month: noUsage(), webhookBacklog: 0 }, undefined, now],
      expected: undefined,
    },
  ];
  for (const { it: name, given, expected } of cases)
    it(name, () => expect(usageStatus(...given)).to.deep.equal(expected));
});
