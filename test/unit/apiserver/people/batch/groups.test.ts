import { expect } from "chai";
import { groupsOf } from "../../../../../apiserver/people/batch/groups.ts";
import type { Item } from "../../../../../apiserver/people/batch/item.ts";

const item = (index: number, keys: readonly string[], tokens: readonly string[] = []): Item => ({
  index,
  body: {},
  keys,
  addressed: tokens.map((token) => ({ channel: "email", token, web: null })),
  id: `usr_${index}`,
});

describe("items of a batch that are written one after another", () => {
  for (const { it: name, items, groups } of [
    { it: "are none that name nobody else's ids", items: [item(0, ["a"]), item(1, ["b"])], groups: [[0], [1]] },
    { it: "name the same id", items: [item(0, ["a"]), item(1, ["b"]), item(2, ["a"])], groups: [[0, 2], [1]] },
    { it: "name the same address", items: [item(0, ["a"], ["x"]), item(1, ["b"], ["x"])], groups: [[0, 1]] },
    {
      it: "are joined by a later one, and stay in order",
      items: [item(0, ["a"]), item(1, ["b"]), item(2, ["c"]), item(3, ["b"]), item(4, ["a", "b"])],
      groups: [[0, 1, 3, 4], [2]],
    },
    {
      it: "are not those whose id is another's address",
      items: [item(0, ["email x"]), item(1, ["b"], ["x"])],
      groups: [[0], [1]],
    },
  ]) {
    it(name, () => {
      const indexes = groupsOf(items).map((group) => group.map(({ index }) => index));
      expect(indexes.toSorted(([a = 0], [b = 0]) => a - b)).to.deep.equal(groups);
    });
  }

  it("are found in a moment when 1,000 of them have many ids in common", () => {
    const many = Array.from({ length: 1_000 }, (_, n) =>
      item(
        n,
        Array.from({ length: 21 }, (__, i) => `k${(n + i) % 500}`),
      ),
    );
    expect(groupsOf(many)).to.have.length(1);
  }).timeout(1_000);
});
