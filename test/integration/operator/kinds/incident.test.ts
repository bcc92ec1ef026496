import { expect } from "chai";
import type { IncidentRow } from "#core/storage/status/incidents.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

describe("operator: an Incident", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.start();
  });
  after(() => herald?.close());

  const row = () => herald.db.collection<IncidentRow>("incidents").findOne();
  const update = (at: string, status: string) => ({
    at: `2026-11-23T${at}:00Z`,
    status,
    message: `${status} at ${at}`,
  });

  it("becomes an incident whose status is that of its newest update, and goes with its resource", async () => {
    const updates = [update("10:00", "identified"), update("09:00", "investigating")];
    await herald.apply(make.incident({ updates }));
    const { status } = await herald.ready(make.incident());
    expect(status).to.include({ status: "identified" });
    const open = await row();
    expect(open).to.deep.include({ status: "identified", resolved_at: null, components: ["delivery"] });
    expect([open?._id, open?.started_at]).to.deep.equal([status?.id, new Date("2026-11-23T09:00:00Z")]);
    expect(open?.updates.map(({ message }) => message)).to.deep.equal([
      "identified at 10:00",
      "investigating at 09:00",
    ]);

    const ended = [...updates, update("11:00", "resolved"), update("12:00", "resolved")];
    await herald.patch(make.incident(), { spec: { updates: ended, startedAt: "2026-11-23T08:30:00Z" } });
    await until(async () => (await row())?.status === "resolved");
    expect(await row()).to.deep.include({
      resolved_at: new Date("2026-11-23T11:00:00Z"),
      started_at: new Date("2026-11-23T08:30:00Z"),
    });
    await herald.remove(make.incident());
    await until(async () => (await row()) === null);
  });
});
