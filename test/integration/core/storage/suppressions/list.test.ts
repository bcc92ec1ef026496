import { expect } from "chai";
import {
  type SuppressionFilter,
  suppressionCollection,
  suppressions,
} from "#core/storage/suppressions/suppressions.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

describe("the list of an app's suppressions", () => {
  const db = testDatabase("suppression_list", [suppressionCollection]);
  const [size, most] = [10, 3];
  const of = { tenantId: "t", appId: "a" };
  const ids = Array.from({ length: 100 }, (_, n) => `sup_${String(n).padStart(26, "0")}`);

  before(async () => {
    const rows = ids.map((_id, n) => ({
      _id,
      tenant_id: "t",
      app_id: "a",
      subject: `s${n}`,
      channel: n % 2 === 0 ? "email" : "sms",
      reason: n === 64 ? "legal" : n % 7 === 0 ? "complaint" : "manual",
      source: "api",
      categories: null,
      expires_at: n === 63 ? new Date(0) : null,
    }));
    await db()
      .collection("suppressions")
      .insertMany([...rows, { ...rows[0], _id: "sup_0of-another", app_id: "b" }] as never[]); // sound: the members that it looks at
  });

  const page = (filter: SuppressionFilter, after: string | null, isDescending: boolean, limit = 5) =>
    suppressions(db(), { size, most }).page(
      of,
      filter,
      { after, isDescending, limit },
      { now: new Date(), signal: AbortSignal.timeout(20_000) },
    );

  it("is looked at in a bounded part for a reason, which no index finds, and says how far", async () => {
    const first = await page({ reasons: ["legal"] }, null, true);
    expect(first).to.deep.equal({ rows: [], isWhole: false, readTo: ids[100 - size * most] });
    const second = await page({ reasons: ["legal"] }, first.readTo ?? null, true);
    expect(second.rows.map(({ _id }) => _id)).to.deep.equal([ids[64]]);
  });

  for (const isDescending of [false, true])
    it(`shows each once, ${isDescending ? "newest" : "oldest"} first, whatever the pages`, async () => {
      for (const [filter, isWanted] of [
        [{ reasons: ["complaint"] }, (n: number) => n % 7 === 0 && n !== 63],
        [{ channels: ["sms"], reasons: ["manual"] }, (n: number) => n % 2 === 1 && n % 7 !== 0],
        [{ subject: "s5" }, (n: number) => n === 5],
        [{}, (n: number) => n !== 63],
      ] as [SuppressionFilter, (n: number) => boolean][]) {
        const seen: string[] = [];
        let after: string | null = null;
        for (let pages = 0; pages < 60; pages++) {
          const { rows, isWhole, readTo } = await page(filter, after, isDescending, 7);
          seen.push(...rows.map(({ _id }) => _id));
          if (isWhole && rows.length < 7) break;
          after = (rows.length < 7 ? readTo : undefined) ?? rows.at(-1)?._id ?? null;
        }
        const wanted = ids.filter((_, n) => isWanted(n));
        expect(seen).to.deep.equal(isDescending ? wanted.reverse() : wanted);
      }
    });
});
