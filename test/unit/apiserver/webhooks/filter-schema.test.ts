import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import fc from "fast-check";
import { filterProblems } from "#core/domain/webhooks/filter.ts";
import { filterOps, WebhookFilters } from "#core/schema/webhooks/filters.ts";
import { fittingValues } from "../../../../apiserver/webhooks/openapi-rules.ts";

describe("the schema of filters that the document shows", () => {
  const shown = fittingValues(JSON.parse(JSON.stringify(WebhookFilters)) as Record<string, unknown>); // a schema is JSON
  const isShown = new Ajv2020({ strict: false }).compile(shown);

  const digits = (most: number, width: number) => fc.nat(most).map((n) => String(n).padStart(width, "0"));
  const date = fc
    .tuple(
      digits(2030, 4),
      digits(14, 2),
      digits(33, 2),
      digits(25, 2),
      digits(61, 2),
      fc.constantFrom("Z", "+25:00", "-01:30", ""),
    )
    .map(([y, m, d, h, min, zone]) => (zone === "" ? `${y}-${m}-${d}` : `${y}-${m}-${d}T${h}:${min}${zone}`));
  const long = fc
    .tuple(fc.constantFrom("x", "\u{1f600}"), fc.constantFrom(249, 250, 251, 499, 500, 501))
    .map(([one, n]) => one.repeat(n));
  const text = fc.oneof(fc.string(), long, date, fc.constantFrom("1.10.2", "1.2.3-beta", "10", "-5", ""));
  const scalar = fc.oneof(text, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean());
  const value = fc.oneof(
    scalar,
    fc.array(scalar, { maxLength: 3 }),
    fc.constantFrom(null, {}, [null], [[]], Array(501).fill("x")),
  );
  const field = fc.constantFrom("name", "data.name", "text", "a..b", ".a", "a.", "type");
  // the ends of a range have an order, which no schema can say
  const op = fc.constantFrom(...filterOps.filter((one) => one !== "between"));

  it("takes what the check takes, and nothing else", () => {
    fc.assert(
      fc.property(field, op, fc.option(value, { nil: undefined }), (at, how, what) => {
        const filters = JSON.parse(
          JSON.stringify({ match: "all", conditions: [{ field: at, op: how, value: what }] }),
        ) as WebhookFilters; // sound: made of its members
        expect(isShown(filters), JSON.stringify(isShown.errors)).to.equal(
          filterProblems(filters, "filters").length === 0,
        );
      }),
      { numRuns: 3_000 },
    );
  });

  for (const what of ["2026-02-30", "2026-13-01", "2026-01-01T24:00Z", "2026-01-01T10:60Z"])
    it(`says of ${what} what the check says`, () => {
      const filters: WebhookFilters = { match: "all", conditions: [{ field: "at", op: "gt", value: what }] };
      expect(isShown(filters)).to.equal(filterProblems(filters, "filters").length === 0);
    });
});
