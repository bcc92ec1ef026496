import { expect } from "chai";
import { AppError } from "#core/errors.ts";
import { quota } from "../../../../apiserver/limits/quota.ts";
import { anApiKey, aPlan, aTenant } from "../../../support/rows/fixtures.ts";

describe("quota", () => {
  const now = new Date("2026-12-31T12:00:00Z");
  const madeAt = new Date("2026-12-31T02:00:30Z");

  /** The error of a message to 7, where the periods that are named have no room left. */
  const refusal = async (full: readonly string[]): Promise<AppError["details"]> => {
    const usage = {
      reserve: async ({ period }: { period: string }) => !full.includes(period),
      confirm: async () => undefined,
      withdraw: async () => undefined,
      giveBack: async () => undefined,
      find: async () => ({ messages: 5, pending: [] }),
    };
    const stored = async () => new Set<string>();
    const tenant = aTenant({ created_at: madeAt });
    const caller = { tenant, plan: aPlan({ messages_per_month: 10 }), key: anApiKey({ tenant_id: tenant._id }).row };
    const error = await quota({ usage, stored, firstDayMessages: 6 })
      .reserve(caller, { id: "msg_1", count: 7 }, now)
      .catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(AppError).with.property("code", "HS_QUOTA_EXCEEDED");
    return (error as AppError).details; // the line above
  };

  it("tells what a month lacks, and that the next one begins at midnight UTC", async () => {
    expect(await refusal(["2026-12"])).to.deep.equal({
      metric: "messages_per_month",
      limit: 10,
      used: 5,
      needed: 7,
      resets_at: "2027-01-01T00:00:00.000Z",
      retry_after_seconds: 43_200,
    });
  });

  it("tells what the first day lacks, and when it ends", async () => {
    expect(await refusal(["first-day"])).to.deep.equal({
      metric: "messages_per_day",
      limit: 6,
      used: 5,
      needed: 7,
      resets_at: "2027-01-01T02:00:30.000Z",
      retry_after_seconds: 50_430,
    });
  });
});
