import { expect } from "chai";
import { newId, ulid } from "#core/domain/ids.ts";
import { pageRange } from "#core/storage/mongo/page-range.ts";

const at = (ms: number): Date => new Date(Date.UTC(2026, 2, 1) + ms);
const ids = [0, 1, 2, 3].map((ms) => newId("message", at(ms)));
const first = { after: null, isDescending: false };

describe("the range of a page", () => {
  const within = (range: { $gt: string; $lt: string }, all = ids) =>
    all.flatMap((id, n) => (id > range.$gt && id < range.$lt ? [n] : []));

  for (const { it: name, times, place, found } of [
    { it: "is everything of its kind", times: {}, place: first, found: [0, 1, 2, 3] },
    { it: "begins with an instant", times: { from: at(1) }, place: first, found: [1, 2, 3] },
    { it: "ends with an instant", times: { to: at(1) }, place: first, found: [0, 1] },
    { it: "may be one instant", times: { from: at(2), to: at(2) }, place: first, found: [2] },
    {
      it: "is nothing between instants the wrong way round",
      times: { from: at(2), to: at(1) },
      place: first,
      found: [],
    },
    { it: "goes on behind a page", times: { from: at(0) }, place: { ...first, after: ids[1] ?? "" }, found: [2, 3] },
    {
      it: "goes on before a page",
      times: { from: at(1), to: at(3) },
      place: { after: ids[3] ?? "", isDescending: true },
      found: [1, 2],
    },
    {
      it: "does not begin earlier because the page before ended there",
      times: { from: at(2) },
      place: { ...first, after: ids[0] ?? "" },
      found: [2, 3],
    },
    { it: "begins with 1970", times: { from: new Date(-1) }, place: first, found: [0, 1, 2, 3] },
  ]) {
    it(name, () => expect(within(pageRange("message", times, place))).to.deep.equal(found));
  }

  it("has two ends, whatever is asked for", () => {
    expect(pageRange("message", {}, first)).to.deep.equal({ $gt: "msg_", $lt: "msg`" });
    expect(within(pageRange("message", {}, first), [newId("app", at(0)), newId("webhook", at(0))])).to.deep.equal([]);
  });

  it("is one of bare ULIDs too", () => {
    const positions = [0, 1, 2].map((ms) => ulid(at(10 + ms)));
    expect(within(pageRange(null, { from: at(11), to: at(11) }, first), positions)).to.deep.equal([1]);
    expect(within(pageRange(null, {}, first), positions)).to.deep.equal([0, 1, 2]);
  });
});
