import { expect } from "chai";
import { compileFilter } from "#core/domain/filters/compile.ts";
import { fieldNamed, type Reads } from "#core/domain/filters/fields.ts";
import { kinds } from "#core/domain/filters/kinds.ts";
import { parseFilter } from "#core/domain/filters/parse.ts";
import { preFilter } from "#core/domain/filters/pre-filter.ts";
import type { Subject } from "#core/domain/filters/subject.ts";
import { segmentMembers } from "#core/domain/segments/members.ts";
import { anyFacts } from "../../../../support/filters/facts.ts";
import { matches } from "../../../../support/filters/matches.ts";
import { fieldNames, now, randomly, seeded } from "../../../../support/filters/random.ts";
import { inSuite } from "../../../../support/suite/soak.ts";

const make = randomly(seeded(20_261_124));
const subjects = Array.from({ length: 40 }, (_, n) => ({
  person: make.person(n),
  subscription: make.subscription(n),
  facts: anyFacts,
}));

/** Somebody as they are read for a filter: with the members alone that it says it reads. */
const only = ({ users, subscriptions }: Reads, { person, subscription }: Subject): Subject => {
  const member = (of: object | null, names: readonly string[]): object => {
    const [all, kept] = [(of ?? {}) as Record<string, unknown>, {} as Record<string, unknown>]; // sound: nothing is known of either
    for (const name of ["_id", ...names]) if (name in all) kept[name] = all[name];
    return kept;
  };
  return { person: member(person, users), subscription: member(subscription, subscriptions) } as Subject; // sound: what is left out is not read
};

/** How many pass, and how many the queries let through; fails for one who passes and is not let through. */
const judge = (input: object) => {
  const tree = parseFilter(input);
  const passes = compileFilter(tree, now);
  const [users, subscriptions] = [preFilter(tree, "users", now), preFilter(tree, "subscriptions", now)];
  const { asks, mayPass, reads } = segmentMembers(new Map(), now).ofFilter(tree);
  const count = { passed: 0, through: 0, may: 0 };
  for (const { facts, ...subject } of subjects) {
    const isThrough = matches(users, subject.person) && matches(subscriptions, subject.subscription);
    const isMeant = passes({ ...subject, facts });
    if (passes({ ...only(reads, subject), facts }) !== isMeant)
      throw new Error(`reads more than ${JSON.stringify(reads)}: ${JSON.stringify(input)}`);
    const mayBeMeant = mayPass(subject);
    if (asks === null && mayBeMeant !== isMeant) throw new Error(`not by facts: ${JSON.stringify(input)}`);
    if (isMeant && !mayBeMeant) throw new Error(`loses by facts ${JSON.stringify(subject)}: ${JSON.stringify(input)}`);
    if (isMeant && !isThrough) throw new Error(`loses ${JSON.stringify(subject)}: ${JSON.stringify(input)}`);
    count.passed += Number(isMeant);
    count.through += Number(isThrough);
    count.may += Number(mayBeMeant);
  }
  return count;
};

describe("preFilter", () => {
  const filters = inSuite(2_000, { soak: 10_000 });

  it(`loses nobody of ${filters.toLocaleString("en")} random filters, and spares reading many`, () => {
    const counts = Array.from({ length: filters }, () => judge(make.filter()));
    const sum = (of: "passed" | "through" | "may") => counts.reduce((all, one) => all + one[of], 0);
    expect(sum("passed")).to.be.within(filters, 39 * filters); // else the filters were no test
    expect(sum("through")).to.be.below(0.9 * 40 * filters);
    expect(sum("may")).to.be.within(sum("passed"), 0.9 * 40 * filters);
  });

  it("loses nobody with any op of any field", () => {
    for (const name of fieldNames)
      for (const op of kinds[fieldNamed(name)?.kind ?? "text"].ops)
        for (let n = 0; n < 10; n++) judge({ all: [make.condition(name, op)] });
  });
});
