import { expect } from "chai";
import type { Group, Heard, VerdictsRow } from "#core/storage/suppressions/verdicts.ts";
import { type HearingDeps, hearing } from "../../../../dispatcher/suppressions/hearing.ts";
import { noon } from "../../../support/rows/work.ts";
import { cpuMs } from "../../../support/until.ts";

const group: Group = {
  of: { tenantId: "ten_1", appId: "app_1" },
  channel: "email",
  provider: "ses",
  part: "a.example",
};
const heardOf = (...ids: string[]): Heard[] =>
  ids.map((deliveryId) => ({ of: group, fresh: [{ deliveryId, isGone: true }], isThrough: false }));
const idsOf = (all: readonly { deliveryId: string }[]): string[] => all.map(({ deliveryId }) => deliveryId);

/** A process that hears, and what it stored. */
const given = (over: Partial<HearingDeps["verdicts"]> = {}) => {
  const stored: string[] = [];
  const find = async (): Promise<VerdictsRow[]> => [];
  const add: HearingDeps["verdicts"]["add"] = async (all) =>
    void stored.push(...all.flatMap(({ fresh }) => idsOf(fresh)));
  const hear = hearing({ verdicts: { find, add, ...over } });
  const judged = async (heard: Heard[], asked: Group[] = [group]): Promise<string[]> =>
    idsOf((await hear({ heard, asked, everyMs: 10_000 }, noon))(group).verdicts);
  return { stored, add, judged };
};

describe("what a process hears of addresses", () => {
  it("is judged with its own by each of several calls at once, and stored once", async () => {
    const { stored, judged } = given();
    const all = await Promise.all(["a", "b", "c"].map((id) => judged(heardOf(id))));
    for (const [n, id] of ["a", "b", "c"].entries()) expect(all[n]).to.include(id);
    expect(stored.toSorted()).to.deep.equal(["a", "b", "c"]);
  });

  it("is stored the next time when the database was away, once each", async () => {
    let isAway = true;
    const site = given({
      add: (all, now) => (isAway ? Promise.reject(new Error("away")) : site.add(all, now)),
    });
    await site.judged(heardOf("a"), []).catch(() => undefined);
    await site.judged(heardOf("b")).catch(() => undefined);
    isAway = false;
    await site.judged(heardOf("b", "c"));
    expect(site.stored).to.deep.equal(["a", "b", "c"]);
  });

  it("costs no more for each when a batch says much of one group", async () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => `dlv_${n}`);
    const judged = async () => expect(await given().judged(heardOf(...ids))).to.have.length(10_000);
    expect(await cpuMs(judged)).to.be.below(5_000); // one step for each pair took 20 s
  });
});
