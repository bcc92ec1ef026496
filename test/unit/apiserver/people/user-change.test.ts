import { expect } from "chai";
import type { UpdateUser } from "#core/schema/people/user.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { changeOf } from "../../../../apiserver/people/user-change.ts";
import { aUser } from "../../../support/rows/fixtures.ts";

const now = new Date("2026-11-21T12:00:00Z");
const inMs = (ms: number): Date => new Date(now.getTime() + ms);
const user = (over: Partial<UserRow> = {}): UserRow =>
  aUser({
    tenant_id: "ten_1",
    app_id: "app_1",
    external_id: "ada",
    aliases: { crm: "7" },
    tags: { plan: "pro", city: "Rome" },
    properties: { cart: { items: [1] } },
    language: "de",
    ...over,
  });

describe("what a change of a user tells", () => {
  const cases: { it: string; body: UpdateUser; expect: string[] }[] = [
    { it: "is nothing when every value is the one it was", body: sameValues(), expect: [] },
    { it: "is a tag that has another value", body: { tags: { plan: "free" } }, expect: ["tags.plan"] },
    { it: "is a tag that is gone", body: { tags: { city: null } }, expect: ["tags.city"] },
    { it: "is not a tag that was not there and is removed", body: { tags: { none: "" } }, expect: [] },
    {
      it: "is a property that differs inside",
      body: { properties: { cart: { items: [2] } } },
      expect: ["properties.cart"],
    },
    { it: "is the time zone by its public name", body: { timezone: "Europe/Rome" }, expect: ["timezone"] },
    {
      it: "is everything that differs",
      body: { external_id: null, language: null, country: "IT", aliases: { crm: null, shop: "1" } },
      expect: ["external_id", "language", "country", "aliases.crm", "aliases.shop"],
    },
  ];
  for (const { it: name, body, expect: wanted } of cases) {
    it(name, () => {
      const { update } = changeOf(user(), body, now);
      expect(update.$addToSet).to.deep.equal(wanted.length === 0 ? undefined : { changed: { $each: wanted } });
      expect(update.$inc).to.deep.equal(wanted.length === 0 ? undefined : { revision: 1 });
    });
  }

  const dueAt = (read: Partial<UserRow>) => changeOf(user(read), { language: "it" }, now).update.$set?.due_at;

  it("is refused for a bound only when the body names what is bounded", () => {
    const tags = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`t${n}`, "1"]));
    expect(() => changeOf(user({ tags }), { tags: { one: "more" } }, now)).to.throw("tags");
    expect(changeOf(user({ tags }), { language: "it" }, now).whole.language).to.equal("it");
  });

  it("writes the ids, all of them, when one of them changes, and none when none does", () => {
    const written = (body: UpdateUser) => Object.keys(changeOf(user(), body, now).update.$set ?? {});
    const ids = ["external_id", "aliases", "alias_keys"];
    expect(written(sameValues())).to.include("tags");
    for (const name of ids) expect(written(sameValues())).not.to.include(name);
    for (const body of [{ external_id: "eve" }, { aliases: { crm: null } }, { aliases: { shop: "1" } }])
      expect(written(body)).to.include.members(ids);
  });

  it("is due five seconds after the first of several changes", () => {
    expect(dueAt({})).to.deep.equal(inMs(5_000));
    expect(dueAt({ changed: ["tags.plan"], due_at: inMs(2_000) })).to.deep.equal(inMs(2_000));
    expect(dueAt({ due_at: inMs(9_000) })).to.deep.equal(inMs(5_000));
  });

  it("is written as due even when it was due before: it may just have been reported", () => {
    expect(dueAt({ changed: ["tags.plan"], due_at: inMs(-1) })).to.deep.equal(inMs(-1));
  });

  it("names only the map once four hundred names wait", () => {
    const changed = Array.from({ length: 400 }, (_, n) => `tags.t${n}`);
    const { update } = changeOf(user({ changed }), { tags: { plan: "a", city: "b" }, language: "it" }, now);
    expect(update.$addToSet).to.deep.equal({ changed: { $each: ["language", "tags"] } });
  });
});

function sameValues(): UpdateUser {
  return {
    external_id: "ada",
    aliases: { crm: "7" },
    tags: { plan: "pro" },
    properties: { cart: { items: [1] } },
    language: "de",
  };
}
