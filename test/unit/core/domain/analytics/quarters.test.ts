import { expect } from "chai";
import { noMetrics } from "#core/domain/analytics/metrics.ts";
import { quarterCountsOf, type Tally } from "#core/domain/analytics/quarters.ts";
import { tablesOf } from "#core/domain/analytics/tables.ts";

const plain: Tally = {
  channel: "email",
  source: "api",
  template_id: null,
  campaign_id: null,
  category: null,
  provider: "smtp",
  error_code: "HARD_BOUNCE",
  reason: null,
  domain: "mail.example",
  country: null,
  status: "bounced",
  labels: [],
  segment_ids: [],
  last_at: new Date(0),
  message_id: "msg_0",
  counts: { ...noMetrics(), targeted: 2, bounced: 1, suppressed: 1 },
};

async function* each(tallies: readonly Tally[]): AsyncGenerator<Tally> {
  yield* tallies;
}

const count = async (tallies: readonly Tally[]) => {
  const counts = await quarterCountsOf(each(tallies));
  return { ...counts, tables: tablesOf({ ...counts, messages: [], times: [] }) };
};

const sum = (all: readonly { count: number }[]): number => all.reduce((of, { count: one }) => of + one, 0);

describe("counters of a quarter of an hour", () => {
  it("tell a bounded number apart, whatever there is, and lose nothing of the rest", async () => {
    const tallies = Array.from({ length: 300 }, (_, n) => ({
      ...plain,
      campaign_id: `c${n}`,
      labels: [`l${n}`, "spring"],
      domain: `mail${n}.example`,
      error_code: `CODE_${n}`,
      reason: n % 2 === 0 ? "quota" : null,
      last_at: new Date(n),
      message_id: `msg_${n}`,
      counts: { ...plain.counts, targeted: 1_000 - n },
    }));
    const { cells, labels, failures, domains, suppressed } = await count(tallies);
    const targeted = tallies.reduce((all, { counts }) => all + counts.targeted, 0);
    expect(cells.reduce((all, { counts }) => all + (counts.targeted ?? 0), 0)).to.equal(targeted);
    expect(cells).to.have.length(101);
    expect(cells.find((one) => one.campaign_id === "other")?.counts.targeted).to.equal(200 * 801 - 100); // from 900 to 701
    const ofSpring = labels.filter(({ name }) => name === "spring");
    expect(ofSpring.reduce((all, { counts }) => all + (counts.targeted ?? 0), 0)).to.equal(targeted);
    for (const all of [failures, domains]) {
      expect(sum(all)).to.equal(300);
      expect(all).to.have.length(201);
      expect(all.slice(0, 100).map(({ origin }) => origin?.campaign_id)).to.deep.equal(
        tallies.slice(0, 100).map(({ campaign_id: id }) => id),
      );
      const rest = all.at(-1);
      expect([rest?.count, rest?.origin?.campaign_id, rest?.message_id]).to.deep.equal([100, "other", "msg_299"]);
      expect(rest?.origin?.labels).to.deep.equal(["other"]);
    }
    expect(failures[150]).to.deep.include({ error_code: "CODE_150" });
    expect(failures.at(-1)).to.deep.include({ error_code: "other", provider: "other" });
    expect(domains.at(-1)?.domain).to.equal("other");
    expect(sum(suppressed)).to.equal(300);
    expect(suppressed).to.have.length.below(110);
  });

  it("are the same in whichever order deliveries are read", async () => {
    const tallies = Array.from({ length: 250 }, (_, n) => ({
      ...plain,
      template_id: `t${n % 120}`,
      segment_ids: [`s${n}`],
      counts: { ...plain.counts, targeted: 1 + (n % 7) },
    }));
    expect((await count(tallies.toReversed())).tables).to.deep.equal((await count(tallies)).tables);
  });
});
