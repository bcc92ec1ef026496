import { expect } from "chai";
import { parseFilter } from "#core/domain/filters/parse.ts";
import { judge } from "#core/domain/segments/judge.ts";
import { segmentMembers } from "#core/domain/segments/members.ts";
import { subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { userCollection } from "#core/storage/people/users.ts";
import { aimedSubscriptions } from "#core/storage/segments/aimed.ts";
import { segmentPeople } from "#core/storage/segments/people.ts";
import { storedFacts } from "../../../../support/filters/facts.ts";
import { aSubscription, aUser, seed } from "../../../../support/rows/fixtures.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };
const ofApp = { tenantId: of.tenant_id, appId: of.app_id };
const never = new AbortController().signal;

/** As many subscriptions lie between the first and the last of these people that they are asked for by name. */
const people = 120;
const each = 45;

describe("reading people and subscriptions for filters", () => {
  const db = testDatabase("filter_reading", [subscriptionCollection, userCollection]);
  const name = (kind: string, n: number): string => `${kind}_${String(n).padStart(5, "0")}`;

  before(async () => {
    const users = Array.from({ length: people }, (_, n) =>
      aUser({
        ...of,
        _id: name("usr", n),
        tags: n === 60 ? { plan: "gold" } : {},
        language: n % 2 === 0 ? "de" : "fr",
      }),
    );
    // The subscriptions of one person lie far from each other.
    const subscriptions = Array.from({ length: people * each }, (_, n) =>
      aSubscription({ ...of, _id: name("sub", n), user_id: name("usr", n % people), token: `t${n}` }),
    );
    await seed(db(), { users, subscriptions });
  });

  const selectionOf = (...all: object[]) => segmentMembers(new Map(), new Date()).ofFilter(parseFilter({ all }));
  const gold = { field: "tags.plan", op: "eq", value: "gold" };
  const push = { field: "channel", op: "eq", value: "ios_push" };

  it("finds every subscription of everybody, where these are many and where they are few", async () => {
    for (const [filter, members] of [
      [push, people],
      [gold, 1],
      [{ field: "properties.plan", op: "neq", value: "silver" }, people], // asked for by name
    ] as const) {
      const selection = selectionOf(filter);
      const found: number[] = [];
      const reading = { ...selection, query: selection.query("users") };
      for await (const page of segmentPeople(db(), storedFacts(db())).all(ofApp, reading, never))
        found.push(...page.filter((one) => judge(selection, one).isMember).map((one) => one.subscriptions.length));
      expect(found).to.deep.equal(Array.from({ length: members }, () => each));
    }
  });

  it("reads everybody once and in the order of ids, page by page, also where the last page is full", async () => {
    const all = Array.from({ length: people }, (_, n) => name("usr", n));
    for (const usual of [people / 3, 50]) {
      const read = segmentPeople(db(), storedFacts(db()), { usual, withProperties: usual });
      const found: string[] = [];
      for await (const page of read.all(ofApp, { ...selectionOf(push), query: {} }, never)) {
        expect(page).to.have.length.at.most(usual);
        found.push(...page.map(({ person }) => person._id));
      }
      expect(found).to.deep.equal(all);
    }
  });

  it("stops before the next page when it is no longer asked for", async () => {
    const read = segmentPeople(db(), storedFacts(db()), { usual: 20, withProperties: 20 });
    const stop = new AbortController();
    let seen = 0;
    for await (const page of read.all(ofApp, { ...selectionOf(push), query: {} }, stop.signal)) {
      seen += page.length;
      stop.abort();
    }
    expect(seen).to.equal(20);
  });

  const pages = async (limit: number, ...all: object[]): Promise<string[]> => {
    const [aimed, selection] = [aimedSubscriptions(db(), storedFacts(db())), selectionOf(...all)];
    const found: string[] = [];
    let after = "";
    for (let isWhole = false; !isWhole; ) {
      const stretch = { channel: "ios_push", status: "subscribed", testOnly: false } as const;
      const page = await aimed.page({ ...ofApp, ...stretch, after, limit }, selection);
      expect(page.rows.length).to.be.at.most(limit);
      found.push(...page.rows.map(({ _id }) => _id));
      after = page.rows.at(-1)?._id ?? after;
      ({ isWhole } = page);
    }
    return found;
  };

  it("pages through whom a selection means in the order of ids, also once few of many are sought by people", async () => {
    const few = Array.from({ length: each }, (_, n) => name("sub", n * people + 60));
    for (const limit of [7, 500]) expect(await pages(limit, gold), `pages of ${limit}`).to.deep.equal(few);
    const half = await pages(1_000, { field: "language", op: "eq", value: "de" });
    expect(half).to.have.length((people * each) / 2);
    expect(half).to.deep.equal(half.toSorted());
    expect(new Set(half).size).to.equal(half.length);
  });
});
