import { expect } from "chai";
import { type Funnel, funnelOf } from "#core/domain/analytics/funnel.ts";
import { retentionOf } from "#core/domain/analytics/retention.ts";
import { dayMs, hourMs, quarterMs } from "#core/domain/durations.ts";
import { cohortUnits, periodModes } from "#core/schema/analytics/retention.ts";
import { type Came, type Did, plainFunnel, plainRetention, zones } from "../../../../support/analytics/people.ts";
import { seeded } from "../../../../support/filters/random.ts";

const [from, to] = [Date.UTC(2026, 2, 20), Date.UTC(2026, 10, 10)]; // over both changes of clocks
const range = { from: new Date(from), to: new Date(to) };

describe("counts of people", () => {
  const random = seeded(36);
  const anyInt = (below: number): number => Math.floor(random() * below);

  /** Near a change of clocks, or anywhere. */
  const anyInstant = (): number => {
    const changes = [Date.UTC(2026, 2, 29), Date.UTC(2026, 3, 5), Date.UTC(2026, 9, 4), Date.UTC(2026, 9, 25)];
    const change = changes[anyInt(changes.length * 2)];
    return change === undefined
      ? from - 3 * dayMs + anyInt((to - from) / 1_000 + 6 * 86_400) * 1_000
      : change + (anyInt(48 * 60) - 24 * 60) * 60_000;
  };

  describe("of a funnel", () => {
    const count = (funnel: Funnel, history: readonly Did[]): void => {
      const person = funnel.person();
      const byInstant = Map.groupBy(
        history.toSorted((a, b) => a.atMs - b.atMs),
        ({ atMs }) => atMs,
      );
      for (const [atMs, of] of byInstant) person.see({ atMs, names: new Set(of.map(({ name }) => name)) });
      person.end();
    };

    it("are those of a plain program, of random histories", () => {
      const histories = Array.from({ length: 1_000 }, () => {
        const begins = anyInstant();
        return Array.from({ length: anyInt(12) }, (): Did => {
          const atMs = begins + anyInt(40) * hourMs;
          return { name: ["a", "b", "c", "d"][anyInt(4)] ?? "", atMs };
        });
      });
      for (const steps of [
        ["a", "b"],
        ["a", "b", "c", "d"],
        ["b", "b", "a"],
        ["a", "a", "a", "b", "a", "c", "a", "d"],
      ]) {
        const spec = { steps, windowMs: (1 + anyInt(24)) * hourMs, range };
        for (const asOf of [new Date(to + 60 * dayMs), new Date(anyInstant())]) {
          const funnel = funnelOf(spec, asOf);
          for (const history of histories) count(funnel, history);
          const counted = funnel.steps().map(({ reached, lost, pending }) => ({ reached, lost, pending }));
          expect(counted).to.deep.equal(plainFunnel(histories, spec, asOf));
        }
      }
    });

    it("say how long people took from their beginning that led furthest", () => {
      const funnel = funnelOf({ steps: ["a", "b", "c"], windowMs: dayMs, range }, new Date(to + dayMs));
      const at = (hours: number, name: string): Did => ({ name, atMs: from + hours * hourMs });
      count(funnel, [at(0, "a"), at(1, "a"), at(2, "b"), at(30, "a"), at(33, "b"), at(35, "c")]);
      count(funnel, [at(0, "a"), at(10, "b")]);
      const [first, second, third] = funnel.steps();
      expect(first).to.include({ reached: 2, median_ms: null });
      expect(second?.median_ms).to.be.within(2.9 * hourMs, 3.1 * hourMs);
      expect(second?.p90_ms).to.be.within(9.8 * hourMs, 10.2 * hourMs);
      expect(third).to.include({ reached: 1, lost: 1, pending: 0 });
      expect(third?.median_ms).to.be.within(4.9 * hourMs, 5.1 * hourMs);
    });
  });

  for (const zone of zones)
    it(`of cohorts are those of a plain program by the clocks of ${zone}`, () => {
      const people = Array.from({ length: 100 }, (): Came => {
        const firstMs = anyInstant();
        return { firstMs, backMs: Array.from({ length: anyInt(8) }, () => firstMs + (anyInt(200) - 20) * hourMs) };
      });
      for (const [unit, mode] of cohortUnits.flatMap((one) => periodModes.map((two) => [one, two] as const))) {
        const spec = { range, zone, unit, periods: 1 + anyInt(12), mode };
        const asOf = new Date(to - anyInt(30 * 96) * quarterMs);
        const retention = retentionOf(spec);
        for (const { firstMs, backMs } of people) {
          const person = retention.person(new Date(firstMs));
          for (const ms of backMs) person?.see(new Date(ms));
          person?.end();
        }
        const counted = retention.cohorts(asOf).map(({ size, retained }) => ({ size, retained }));
        expect(counted, `${unit}, ${mode}`).to.deep.equal(plainRetention(people, spec, asOf));
      }
    });

  it("are none of an empty range", () => {
    const empty = { from: range.from, to: range.from };
    const spec = { range: empty, zone: "UTC", unit: "day", periods: 1, mode: "calendar" } as const;
    expect(retentionOf(spec).cohorts(range.to)).to.deep.equal([]);
  });
});
