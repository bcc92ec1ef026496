import { expect } from "chai";
import { planRoom } from "../../../../operator/records/room.ts";
import { anApp, aPlan, aTenant } from "../../../support/rows/fixtures.ts";

const room = (over: Parameters<typeof aPlan>[0], others: number) => {
  const plan = aPlan({ _id: "small", webhook_endpoints: 2, ...over });
  const tenant = aTenant({ plan: plan._id });
  const ask = planRoom({
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
