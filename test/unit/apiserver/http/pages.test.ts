import { expect } from "chai";
import fc from "fast-check";
import { pagingOf } from "#core/schema/json/page.ts";
import { type SortPosition, sortedPage } from "#core/storage/mongo/page-range.ts";
import { cursors, type Page, readPage } from "../../../../apiserver/http/pages.ts";

describe("cursors", () => {
  const ours = cursors(() => Buffer.alloc(32, 1));
  const scope = { list: "messages/app_1", sort: "-created_at", filters: { label: "a", status: undefined } };

  it("give back the key they were made of", () => {
    fc.assert(fc.property(fc.string(), (key) => ours.read(scope, ours.write(scope, key)) === key));
  });

  it("do not depend on the order of filters, nor on filters that are not given", () => {
    const cursor = ours.write({ ...scope, filters: { a: "1", b: "2" } }, "k");
    expect(ours.read({ ...scope, filters: { b: "2", c: undefined, a: "1" } }, cursor)).to.equal("k");
  });

  it("are refused after any change of a character", () => {
    const cursor = ours.write(scope, "msg_1");
    const places = fc.nat({ max: cursor.length - 2 }); // the last one carries unused bits of base64
    const letters = fc.constantFrom("A", "B", "z", "0", "9", "-", "_", ".");
    fc.assert(
      fc.property(places, letters, (at, letter) => {
        const altered = cursor.slice(0, at) + letter + cursor.slice(at + 1);
        if (altered === cursor) return;
        expect(() => ours.read(scope, altered))
          .to.throw()
          .with.nested.property("details.field", "cursor");
      }),
    );
  });

  it("are refused under another secret", () => {
    const cursor = cursors(() => Buffer.alloc(32, 2)).write(scope, "k");
    expect(() => ours.read(scope, cursor))
      .to.throw()
      .with.property("code", "HS_VALIDATION_ERROR");
  });
});

describe("a page of a list", () => {
  type Row = { id: number };
  const ours = cursors(() => Buffer.alloc(32, 1));
  const rows = Array.from({ length: 450 }, (_, id): Row => ({ id }));
  const wholeList = { cursors: ours, list: "rows", view: (row: Row) => row.id };
  const positionOf = ({ id }: Row): string => String(id);
  const asked: number[] = [];
  const read = async ({ after, limit }: { after: string | null; limit: number }) => {
    asked.push(limit);
    const begin = after === null ? 0 : Number(after) + 1;
    return rows.slice(begin, begin + limit);
  };

  it("has as many items as the operation says, or as are asked for", async () => {
    for (const [paging, query, items] of [
      [pagingOf({ sort: "-created_at" }), {}, 50],
      [pagingOf({ sort: "-created_at" }), { limit: 7 }, 7],
      [pagingOf({ sort: "-created_at", standard: 400, most: 500 }), {}, 400],
    ] as const) {
      const page = await readPage({ ...wholeList, paging, query, read, positionOf });
      expect([page.data.length, page.has_more, asked.pop()]).to.deep.equal([items, true, items + 1]);
    }
  });

  it("goes on from where its reading ended, also when nothing was found by then", async () => {
    const places: (string | null)[] = [];
    const readPart = async ({ after }: { after: string | null }) => {
      places.push(after);
      if (after === "199") return { rows: [{ id: 250 }], isWhole: true };
      return { rows: [], isWhole: false, readTo: after === null ? "99" : "199" };
    };
    const data: number[] = [];
    let query: { cursor?: string } | null = {};
    while (query !== null && places.length < 5) {
      const paging = pagingOf({ sort: "-created_at" });
      const page: Page<number> = await readPage({ ...wholeList, paging, query, read: readPart, positionOf });
      expect(page.has_more).to.equal(page.next_cursor !== null);
      data.push(...page.data);
      query = page.next_cursor === null ? null : { cursor: page.next_cursor };
    }
    expect([places, data]).to.deep.equal([[null, "99", "199"], [250]]);
  });

  it("says in its schema what it may have at most", () => {
    const { limit } = pagingOf({ sort: "created_at", standard: 100, most: 500 }).pageQuery;
    expect(limit).to.deep.include({ minimum: 1, maximum: 500, description: "items of a page; default 100" });
    expect(() => pagingOf({ sort: "created_at", most: 501 })).to.throw(RangeError);
    expect(() => pagingOf({ sort: "created_at", standard: 201 })).to.throw(RangeError);
  });

  it("admits the orders that the operation declares, each in both directions", () => {
    const { sortQuery } = pagingOf({ keys: ["created_at", "name"], sort: "name" });
    expect(sortQuery.sort).to.deep.include({ enum: ["created_at", "-created_at", "name", "-name"] });
    expect(sortQuery.sort).to.deep.include({ description: "default name" });
  });
});

describe("a list that is sorted by a member", () => {
  type Row = { _id: string; at: number | string | Date };
  type Test = Record<string, unknown>;
  const ours = cursors(() => Buffer.alloc(32, 1));
  const paging = pagingOf({ keys: ["created_at", "at"], sort: "-at" });

  /** What the filters of such lists ask, as MongoDB answers it. */
  const fits = (row: Row, filter: Test): boolean =>
    Object.entries(filter).every(([name, wanted]) => {
      if (name === "$or") return (wanted as Test[]).some((one) => fits(row, one));
      const value = orderOf(row[name as keyof Row]);
      if (typeof wanted !== "object" || wanted instanceof Date) return value === orderOf(wanted);
      return Object.entries(wanted as Test).every(([op, bound]) => {
        const limit = orderOf(bound);
        return { $gt: value > limit, $lt: value < limit, $gte: value >= limit, $lte: value <= limit }[op];
      });
    });
  const orderOf = (value: unknown): number | string => (value instanceof Date ? value.getTime() : (value as string));
  const inOrder = (sort: Record<string, 1 | -1>) => (a: Row, b: Row) => {
    for (const [name, direction] of Object.entries(sort)) {
      const [left, right] = [orderOf(a[name as keyof Row]), orderOf(b[name as keyof Row])];
      if (left !== right) return left < right ? -direction : direction;
    }
    return 0;
  };

  /** Every id, page by page. */
  const visited = async (rows: readonly Row[], sort: "at" | "-at", limit: number): Promise<string[]> => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await readPage<Row, string, SortPosition>({
        cursors: ours,
        paging,
        list: "rows",
        query: { sort, limit, ...(cursor !== undefined && { cursor }) },
        read: async ({ limit: most, sort: member, ...place }) => {
          const { filter, sort: order } = sortedPage(member, place);
          return rows
            .filter((row) => fits(row, filter))
            .sort(inOrder(order))
            .slice(0, most);
        },
        positionOf: (row) => ({ value: row.at, id: row._id }),
        view: ({ _id }) => _id,
      });
      ids.push(...page.data);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && ids.length <= rows.length);
    return ids;
  };

  for (const [what, values] of [
    ["numbers", fc.integer({ min: 0, max: 3 })],
    ["text", fc.constantFrom("a", "b", "")],
    ["instants", fc.integer({ min: 0, max: 3 }).map((ms) => new Date(ms))],
  ] as const) {
    it(`is visited once each, those of the same value by id: ${what}`, () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(values as fc.Arbitrary<Row["at"]>, { maxLength: 12 }),
          fc.constantFrom("at" as const, "-at" as const),
          fc.integer({ min: 1, max: 5 }),
          async (all, sort, limit) => {
            const rows = all.map((at, i): Row => ({ _id: `r_${String.fromCharCode(97 + ((i * 5) % 13))}`, at }));
            const direction = sort === "at" ? 1 : -1;
            const wanted = rows.toSorted(inOrder({ at: direction, _id: direction })).map(({ _id }) => _id);
            expect(await visited(rows, sort, limit)).to.deep.equal(wanted);
          },
        ),
      ));
  }

  it("takes no cursor of another order", async () => {
    const cursor = ours.write({ list: "rows", sort: "at", filters: {} }, { value: 1, id: "r_a" });
    const read = async (): Promise<Row[]> => [];
    const positionOf = (row: Row): SortPosition => ({ value: row.at, id: row._id });
    const page = readPage({ cursors: ours, paging, list: "rows", query: { cursor }, read, positionOf, view: String });
    expect(await page.catch((error: { code: string }) => error.code)).to.equal("HS_VALIDATION_ERROR");
  });
});
