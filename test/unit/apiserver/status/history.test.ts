import { expect } from "chai";
import { components, type Status } from "#core/schema/status/vocabulary.ts";
import type { Minute } from "#core/storage/status/days.ts";
import { statusHistory } from "../../../../apiserver/status/history.ts";

const each = (status: Status) => Object.fromEntries(components.map((name) => [name, status])) as Minute["states"];
const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1_000);

describe("the history of the status", () => {
  const kept = () => {
    const recorded: Minute[] = [];
    const failing = { is: false };
    const note = statusHistory({
      shownDays: 90,
      days: {
        record: async (minutes) => {
          if (failing.is) throw new Error("away");
          recorded.push(...minutes);
        },
        last: async () => [],
      },
    });
    return { recorded, failing, note };
  };

  it("counts each minute once, as it was seen first", async () => {
    const { recorded, note } = kept();
    await note({ now: at(0), states: each("operational"), canWrite: true });
    await note({ now: at(10), states: each("degraded"), canWrite: true });
    await note({ now: at(60), states: each("degraded"), canWrite: true });
    expect(recorded.map(({ states }) => states.api)).to.deep.equal(["operational", "degraded"]);
  });

  it("keeps the minutes of an outage of the database until it is back", async () => {
    const { recorded, failing, note } = kept();
    for (const minute of [0, 1, 2]) await note({ now: at(minute * 60), states: each("major_outage"), canWrite: false });
    failing.is = true;
    const failed = await note({ now: at(180), states: each("operational"), canWrite: true }).then(
      () => false,
      () => true,
    );
    expect([failed, recorded]).to.deep.equal([true, []]);
    failing.is = false;
    await note({ now: at(240), states: each("operational"), canWrite: true });
    const outage = Array.from({ length: 3 }, () => "major_outage");
    expect(recorded.map(({ states }) => states.api)).to.deep.equal([...outage, "operational", "operational"]);
  });

  it("keeps a day of minutes at most", async () => {
    const { recorded, note } = kept();
    for (let minute = 0; minute < 2_000; minute++) {
      await note({ now: at(minute * 60), states: each("major_outage"), canWrite: false });
    }
    await note({ now: at(2_000 * 60), states: each("operational"), canWrite: true });
    expect(recorded.length).to.equal(1_440);
  });
});
