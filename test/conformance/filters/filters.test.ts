import { expect } from "chai";
import { compileFilter } from "#core/domain/filters/compile.ts";
import { positiveOf } from "#core/domain/filters/negation.ts";
import { parseFilter } from "#core/domain/filters/parse.ts";
import { truthTables } from "#core/domain/filters/truth-table.ts";
import { cases, now, ofSubscriptions, people, subscriptions } from "./cases.ts";

describe("filters", () => {
  for (const { it: what, filter, passes } of cases)
    it(what, () => {
      const isMeant = compileFilter(parseFilter(filter), now);
      const meant = Object.entries(people).filter(([, person]) => isMeant({ person, subscription: null }));
      expect(meant.map(([name]) => name)).to.deep.equal(passes);
    });

  for (const { it: what, condition, passes } of ofSubscriptions)
    it(what, () => {
      const isMeant = compileFilter(parseFilter({ all: [condition] }), now);
      const meant = Object.entries(subscriptions).filter(([, one]) =>
        isMeant({ person: people.cy, subscription: one }),
      );
      expect(meant.map(([name]) => name)).to.deep.equal(passes);
    });

  for (const { kind, rows } of truthTables())
    it(`have a negative op say the opposite of the positive one, and true of what is absent: ${kind}`, () => {
      for (const { op, results } of rows) {
        const { op: positive, isNegated } = positiveOf(op);
        expect(results.slice(0, 2), op).to.deep.equal([isNegated, isNegated]);
        const opposite = rows.find((row) => row.op === positive)?.results.map((isTrue) => isTrue !== isNegated);
        expect(results, op).to.deep.equal(opposite);
      }
    });
});
