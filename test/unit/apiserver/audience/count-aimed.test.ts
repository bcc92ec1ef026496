import { expect } from "chai";
import { nobodyChosen } from "#core/domain/segments/aim.ts";
import { type CountAimedDeps, countAimed } from "../../../../apiserver/audience/count-aimed.ts";
import { randomly, seeded } from "../../../support/filters/random.ts";

const random = randomly(seeded(33));
const aim = { isEveryone: true, included: [], excluded: [], filter: { all: [] }, segments: [] };
const audience = {
  tenantId: "ten_1",
  appId: "app_1",
  reach: [{ channel: "email" as const, status: "subscribed" as const }],
  testOnly: false,
  category: null,
};

describe("the count of whom a target with segments means", () => {
  /** 12,000 subscriptions, in pages as they are asked for. */
  const count = (mostMs: number) => {
    const all = Array.from({ length: 12_000 }, (_, i) => `sub_${String(i).padStart(5, "0")}`);
    const aimed: CountAimedDeps["aimed"] = {
      page: async ({ after, limit }, _selection, isOver) => {
        const ids = isOver?.() ? [] : all.filter((id) => id > after).slice(0, limit);
        const rows = ids.map((_id) => ({
          ...random.subscription(0),
          _id,
          channel: "email" as const,
          status: "subscribed" as const,
          external_id: null,
        }));
        return { rows, isWhole: isOver?.() !== true && rows.length < limit, looked: rows.length };
      },
      among: async () => new Set(),
    };
    const countReached = async (rows: readonly object[]): Promise<[string, number][]> => [["email", rows.length]];
    const given = { named: [], chosen: nobodyChosen };
    return countAimed({ aimed, countReached, mostMs }, audience, { aim, at: new Date() }, given);
  };

  it("goes through all pages", async () => {
    expect(await count(60_000)).to.deep.equal([["email", 12_000]]);
  });

  it("is not said when its time is over before all were looked at", async () => {
    expect(await count(0)).to.equal(null);
  });
});
