import { expect } from "chai";
import type { FilteredPerson } from "#core/domain/filters/subject.ts";
import { type Chosen, type MessageAim, nobodyChosen, openAim } from "#core/domain/segments/aim.ts";
import { randomly, seeded } from "../../../../support/filters/random.ts";

const now = new Date("2026-06-15T12:00:00Z");
const random = randomly(seeded(32));
const list = (_id: string) => ({ _id, kind: "list" as const, filter: null });
const anAim = (over: Partial<MessageAim> = {}): MessageAim => ({
  isEveryone: false,
  included: [],
  excluded: [],
  filter: null,
  segments: ["a", "b", "c"].map(list),
  ...over,
});
const german = { all: [{ field: "language", op: "eq", value: "de" }] };

describe("what a target says by segments and a filter", () => {
  const meant = (aim: MessageAim, chosen: Chosen = nobodyChosen) => {
    const { passes } = openAim(aim, now, chosen);
    return (lists: string[], over: Partial<FilteredPerson> = {}, id = "sub_0") =>
      passes({
        person: { ...random.person(0), language: "de", lists, ...over },
        subscription: { ...random.subscription(0), _id: id },
      });
  };

  it("means those in any of the included segments and none of the excluded who pass the filter", () => {
    const is = meant(anAim({ included: ["a", "b"], excluded: ["c"], filter: german }));
    const asked = [is(["a"]), is(["b"]), is([]), is(["a", "c"]), is(["a"], { language: "fr" })];
    expect(asked).to.deep.equal([true, true, false, false, false]);
  });

  it("means everyone who passes where everyone is chosen", () => {
    const is = meant(anAim({ isEveryone: true, included: ["a"], excluded: ["c"] }));
    expect([is([]), is(["a"]), is(["c"])]).to.deep.equal([true, true, false]);
  });

  it("joins those chosen by ids with those in a segment, and excludes among both", () => {
    const chosen = { subscriptionIds: new Set(["sub_1"]), userIds: new Set(["usr_1"]) };
    const is = meant(anAim({ included: ["a"], excluded: ["c"] }), chosen);
    const asked = [is([], {}, "sub_1"), is([], { _id: "usr_1" }), is(["a"]), is([]), is(["c"], {}, "sub_1")];
    expect(asked).to.deep.equal([true, true, true, false, false]);
  });

  it("is asked of the store only as far as it leaves nobody out who is meant", () => {
    const aim = anAim({ included: ["a", "b"], filter: { all: [{ field: "channel", op: "eq", value: "sms" }] } });
    const { query } = openAim(aim, now, nobodyChosen);
    expect(query("users")).to.deep.equal({ $and: [{ $or: [{ lists: "a" }, { lists: "b" }] }] });
    const byIds = openAim(aim, now, { ...nobodyChosen, userIds: new Set(["usr_1"]) });
    expect(byIds.query("users")).to.deep.equal({});
    expect(byIds.query("subscriptions")).to.deep.equal(query("subscriptions"));
  });
});
