import { expect } from "chai";
import { AppError } from "#core/errors.ts";
import type { PeopleReportRow } from "#core/storage/analytics/people-reports.ts";
import { peopleReport } from "../../../../apiserver/analytics/people-report.ts";
import { anApp, aPlan } from "../../../support/rows/fixtures.ts";
import { noon } from "../../../support/rows/work.ts";

describe("questions about people", () => {
  const question = { kind: "funnel", range: { from: noon, to: noon }, steps: ["a", "b"], windowHours: 1 } as const;
  const counted: PeopleReportRow = {
    due_at: null,
    lease: null,
    fence: 0,
    _id: "r",
    tenant_id: "ten_1",
    app_id: "app_1",
    question: { ...question, steps: [...question.steps] },
    asked_at: noon,
    as_of: noon,
    result: { steps: [] },
    rests_until: new Date(noon.getTime() + 60_000),
    read_before: 0,
  };

  const ask = (known: PeopleReportRow | null) => {
    const asked: string[] = [];
    const used: string[] = [];
    const report = peopleReport({
      reports: { find: async () => known, ask: async () => void asked.push("asked") },
      firstSession: async () => null,
      limit: async (rate) => {
        used.push(rate);
        if (rate === "analytics.count") throw new AppError("HS_RATE_LIMITED", "no more", {});
      },
      clock: { now: () => noon },
    })({ plan: aPlan() }, { app: anApp({ tenant_id: "ten_1" }), query: {} }, async () => ({
      question: { ...question, steps: [...question.steps] },
    }));
    return { asked, used, report };
  };

  it("are refused once an app has had as many counted as it may, and are not counted then", async () => {
    const { asked, used, report } = ask(null);
    const refusal = await report.catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(AppError).and.have.property("code", "HS_RATE_LIMITED");
    expect([asked, used]).to.deep.equal([[], ["analytics.read", "analytics.count"]]);
  });

  it("that were counted a moment ago are answered all the same", async () => {
    const { used, report } = ask(counted);
    expect((await report).result).to.deep.equal({ steps: [] });
    expect(used).to.deep.equal(["analytics.read"]);
  });
});
