import { expect } from "chai";
import type { Db } from "mongodb";
import { compileFilter } from "#core/domain/filters/compile.ts";
import { parseFilter } from "#core/domain/filters/parse.ts";
import { preFilter } from "#core/domain/filters/pre-filter.ts";
import type { FilterTree } from "#core/domain/filters/tree.ts";
import { subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { userCollection } from "#core/storage/people/users.ts";
import { anyFacts } from "../../../../support/filters/facts.ts";
import { now, randomly, seeded } from "../../../../support/filters/random.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

type Found = Record<string, { _id: string }[]>;

/** What the store finds for each of several filters, in one statement. */
const findAll = async (db: Db, of: "users" | "subscriptions", trees: readonly FilterTree[]) => {
  const pipelines = trees.map((tree, i) => [`f${i}`, [{ $match: preFilter(tree, of, now) }, { $project: { _id: 1 } }]]);
  const [found = {}] = await db
    .collection(of)
    .aggregate<Found>([{ $facet: Object.fromEntries(pipelines) }])
    .toArray();
  return trees.map((_, i) => new Set(found[`f${i}`]?.map(({ _id }) => _id)));
};

describe("pre-filters in the store", () => {
  const db = testDatabase("pre_filters", [userCollection, subscriptionCollection]);
  const make = randomly(seeded(31));
  const subjects = Array.from({ length: 40 }, (_, n) => ({
    person: make.person(n),
    subscription: make.subscription(n),
  }));

  before(async () => {
    const rows = (of: readonly object[]) => of as never[]; // sound: the members that filters and indexes look at
    await db()
      .collection("users")
      .insertMany(rows(subjects.map(({ person }) => person)));
    await db()
      .collection("subscriptions")
      .insertMany(rows(subjects.map(({ subscription }) => subscription)));
  });

  for (let run = 1; run <= 6; run++)
    it(`lose nobody of 50 random filters, run ${run}`, async () => {
      const filters = Array.from({ length: 50 }, () => make.filter());
      const trees = filters.map((filter) => parseFilter(filter));
      const [people, devices] = await Promise.all([
        findAll(db(), "users", trees),
        findAll(db(), "subscriptions", trees),
      ]);
      for (const [i, tree] of trees.entries()) {
        const passes = compileFilter(tree, now);
        const meant = subjects.filter((subject) => passes({ ...subject, facts: anyFacts }));
        const lost = meant.filter(
          ({ person, subscription }) => !people[i]?.has(person._id) || !devices[i]?.has(subscription._id),
        );
        expect(lost, JSON.stringify(filters[i])).to.deep.equal([]);
      }
    });
});
