import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import { refused } from "../../../../operator/policies/conditions.ts";
import { planLimit, withinPlan } from "../../../../operator/records/within-plan.ts";
import { anApp, aPlan, aTenant } from "../../../support/rows/fixtures.ts";

const room = (over: Parameters<typeof aPlan>[0], others: number) => {
  const plan = aPlan({ _id: "small", webhook_endpoints: 2, ...over });
  const tenant = aTenant({ plan: plan._id });
  const ask = planLimit({
    owners: { tenants: { find: async () => tenant }, plans: { find: async () => plan } },
    feature: "webhooks",
    things: "endpoints",
    most: ({ webhook_endpoints: most }) => most,
    countOthers: async () => others,
  });
  return ask(anApp({ tenant_id: tenant._id }), "whk_1");
};

describe("room in a plan", () => {
  it("is there while the app has fewer than the plan allows", async () => {
    expect(await room({}, 1)).to.equal(null);
  });

  it("is not there when the plan's number is reached", async () => {
    expect(await room({}, 2)).to.include({ reason: "PlanLimitReached" });
  });

  it("is not there in a plan without the feature", async () => {
    expect(await room({ features: [] }, 0)).to.include({ reason: "PlanFeatureRequired" });
  });
});

describe("what is written in the room of a plan", () => {
  const full = refused("PlanLimitReached", "");

  /** Room for one more; a write takes it once the writer has gone on. */
  const aPlace = () => {
    let free = 1;
    const write = async (): Promise<{ kept: "created" }> => {
      await Promise.resolve();
      free--;
      return { kept: "created" };
    };
    return { write, within: withinPlan<{ _id: string }>(async () => (free > 0 ? null : full), timings.usual) };
  };

  it("is written by one of two that come at the same time, and the other is looked at again", async () => {
    const { write, within } = aPlace();
    const owner = { _id: "app_1" };
    const both = ["a", "b"].map((id) => within({ owner, id, row: null }, write));
    const verdict = { ready: full, isChanged: false, requeueAfterMs: 30_000 };
    expect(await Promise.all(both)).to.have.deep.members([{ kept: "created" }, { verdict }]);
  });

  it("is written when it is there already, although the plan is full", async () => {
    const { write, within } = aPlace();
    const at = { owner: { _id: "app_1" }, id: "a" };
    await within({ ...at, row: null }, write);
    expect(await within({ ...at, row: {} }, write)).to.deep.equal({ kept: "created" });
  });
});
