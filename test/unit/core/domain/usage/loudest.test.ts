import { expect } from "chai";
import { noUsage, sumOfUsage, type UsageCounts } from "#core/domain/usage/figures.ts";
import { loudest } from "#core/domain/usage/loudest.ts";

const tenant = (tenantId: string, counts: Partial<UsageCounts>) => ({ tenantId, counts: { ...noUsage(), ...counts } });

describe("the loudest tenants", () => {
  const cases: { it: string; given: ReturnType<typeof tenant>[]; most?: number; expected: string[] }[] = [
    { it: "are none when nobody does anything", given: [tenant("a", {})], expected: [] },
    {
      it: "are those with the largest share of anything",
      given: [
        tenant("a", { deliveries: 900, requests: 1 }),
        tenant("b", { deliveries: 50, requests: 2 }),
        tenant("c", { deliveries: 50, requests: 97 }),
      ],
      expected: ["c", "a", "b"],
    },
    {
      it: "are as many as asked for, of equal ones those with the lower ids",
      given: ["d", "b", "a", "c"].map((id) => tenant(id, { events: 5 })),
      most: 3,
      expected: ["a", "b", "c"],
    },
  ];
  for (const { it: name, given, most = 10, expected } of cases) {
    it(name, () => {
      const total = sumOfUsage(given.map(({ counts }) => counts));
      expect(loudest(given, total, most).map(({ tenantId }) => tenantId)).to.deep.equal(expected);
    });
  }
});
