import { expect } from "chai";
import type { DeliveryListQuery } from "#core/schema/messages/delivery.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { deliveryList } from "#core/storage/messages/delivery-list.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

describe("the list of a message's deliveries", () => {
  const db = testDatabase("delivery_list", [deliveryCollection]);
  const [size, most] = [10, 3];
  const positions = Array.from({ length: 100 }, (_, n) => String(n).padStart(26, "0"));

  before(async () => {
    const base = { message_id: "m", tenant_id: "t", app_id: "a" };
    const rows = positions.map((position, n) => ({
      ...base,
      _id: `d${n}`,
      position,
      user_id: n === 64 ? "one" : "others",
      status: n % 7 === 0 ? "failed" : "sent",
    }));
    await db()
      .collection("deliveries")
      .insertMany(rows as never[]); // sound: the members that the list looks at
    await db()
      .collection("deliveries")
      .insertOne({ ...rows[64], _id: "other" as never, message_id: "n" });
  });

  const page = (filters: DeliveryListQuery, after: string | null, isDescending: boolean, limit = 5) =>
    deliveryList(db(), { size, most }).page(
      { tenantId: "t", messageId: "m", filters },
      { after, isDescending, limit },
      AbortSignal.timeout(20_000),
    );

  it("looks at a bounded part of it for what no index finds, and says how far it looked", async () => {
    const first = await page({ user_id: "one" }, null, false);
    expect(first).to.deep.equal({ rows: [], isWhole: false, readTo: positions[size * most - 1] });
    const second = await page({ user_id: "one" }, first.readTo ?? null, false);
    expect(second).to.deep.include({ rows: [], readTo: positions[2 * size * most - 1] });
    const third = await page({ user_id: "one" }, second.readTo ?? null, false);
    expect(third.rows.map(({ _id }) => _id)).to.deep.equal(["d64"]);
    expect(third.readTo).to.equal(positions[3 * size * most - 1]);
    const last = await page({ user_id: "one" }, third.readTo ?? null, false);
    expect(last).to.deep.equal({ rows: [], isWhole: true });
  });

  for (const isDescending of [false, true])
    it(`shows each once, ${isDescending ? "newest" : "oldest"} first, whatever the pages`, async () => {
      for (const [filters, limit] of [
        [{ status: "failed" }, 2],
        [{ status: "failed" }, 50],
        [{ status: "sent" }, 7],
        [{}, 30],
      ] as const) {
        const seen: DeliveryRow[] = [];
        let after: string | null = null;
        for (let pages = 0; pages < 60; pages++) {
          const { rows, isWhole, readTo } = await page(filters, after, isDescending, limit);
          seen.push(...rows);
          if (isWhole && rows.length < limit) break;
          after = (rows.length < limit ? readTo : undefined) ?? rows.at(-1)?.position ?? null;
        }
        const wanted = positions.filter(
          (_, n) => !("status" in filters) || (n % 7 === 0) === (filters.status === "failed"),
        );
        expect(seen.map(({ position }) => position)).to.deep.equal(isDescending ? wanted.reverse() : wanted);
      }
    });

  it("stops when nobody waits for it", async () => {
    const gone = AbortSignal.abort(new Error("the client has gone"));
    const of = { tenantId: "t", messageId: "m", filters: { user_id: "one" } };
    const error: unknown = await deliveryList(db())
      .page(of, { after: null, isDescending: false, limit: 5 }, gone)
      .catch((error: unknown) => error);
    expect(error).to.equal(gone.reason);
  });
});
