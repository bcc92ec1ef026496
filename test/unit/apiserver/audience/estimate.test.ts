import { expect } from "chai";
import type { Audience } from "#core/storage/people/subscription-counts.ts";
import { type EstimateDeps, estimate } from "../../../../apiserver/audience/estimate.ts";
import type { LastCountOf } from "../../../../apiserver/audience/last-count.ts";
import { aSubscription, handClock } from "../../../support/rows/work.ts";

const audience: Audience = {
  tenantId: "ten_1",
  appId: "app_1",
  reach: [{ channel: "ios_push", status: "subscribed" }],
  testOnly: false,
  category: null,
};
const aim = { isEveryone: false, included: ["seg_1"], excluded: [], filter: null, segments: [] };
const segment = { _id: "seg_1", kind: "list" as const, filter: null };
const asked = { aimed: { aim: { ...aim, segments: [segment] }, at: new Date() } };
const at = new Date("2026-06-15T12:00:00Z");

/** Of an app with more people than can be looked at in time; one subscription is named by its id. */
const deps: EstimateDeps = {
  mostMs: 0,
  aimed: {
    page: async () => ({ rows: [], isWhole: false, looked: 500 }),
    among: async () => new Set(),
    passing: async () => [],
    factsOf: () => Promise.reject(new Error("nothing is asked")),
  },
  targets: {
    byAlias: async () => [],
    byId: async () => [],
    isLabelKnown: async () => true,
    probe: async (_of, ids) => ids.map((_id) => aSubscription({ _id, app_id: "app_1" })),
    probeUsers: async () => [],
  },
  countAll: async () => 1_000,
  findSuppressed: async () => new Set(),
  contacts: { known: async () => [] },
  clock: handClock(),
};
const counted =
  (isBound: boolean): LastCountOf =>
  async () => ({ byChannel: [["ios_push", 7]], at, isBound });

describe("the estimate of a target with segments that cannot be looked at in time", () => {
  const segments = { included_segments: ["seg_1"] };

  it("is the last count of its segment", async () => {
    const found = await estimate(deps)(audience, segments, { ...asked, last: counted(false) });
    expect(found).to.deep.include({ recipients: 7, byChannel: { ios_push: 7 }, asOf: at });
    expect(found.isUpperBound).to.equal(undefined);
  });

  it("is said to be an upper bound where the last counts only bound it, or a person counts once", async () => {
    const bounded = await estimate(deps)(audience, segments, { ...asked, last: counted(true) });
    expect(bounded).to.deep.include({ recipients: 7, asOf: at, isUpperBound: true });
    const once = await estimate(deps)(audience, segments, { ...asked, last: counted(false), onePerUser: true });
    expect(once).to.deep.include({ recipients: 7, asOf: at, isUpperBound: true });
    const named = { ...segments, include_subscription_ids: ["sub_1"] };
    const joined = await estimate(deps)(audience, named, { ...asked, last: counted(false) });
    expect(joined).to.deep.include({ recipients: 8, asOf: at, isUpperBound: true });
  });

  it("is everybody whom the channels reach where nothing was counted", async () => {
    const found = await estimate(deps)(audience, segments, { ...asked, last: async () => null });
    expect(found).to.deep.include({ recipients: 1_000, isUpperBound: true });
    expect(found.asOf).to.equal(undefined);
  });
});
