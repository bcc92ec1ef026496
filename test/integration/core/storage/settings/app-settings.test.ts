import { expect } from "chai";
import { appActivityTypes } from "#core/storage/live-activities/app-types.ts";
import { type LiveActivityTypeRow, liveActivityTypeCollection } from "#core/storage/live-activities/types.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

const now = new Date("2026-01-01T00:00:00Z");

describe("settings of an app", () => {
  const db = testDatabase("core_app_settings", [liveActivityTypeCollection]);

  const named = (name: string, _id: string): LiveActivityTypeRow => ({
    _id,
    tenant_id: "t",
    app_id: "a",
    name,
    description: null,
    content_state_schema: { type: "object", properties: {} },
    attributes_schema: { type: "object", properties: {} },
    managed: null,
    created_at: now,
    updated_at: now,
  });

  it("have a name once, whoever asks for it at the same moment, and fail for nobody", async () => {
    const replicas = [appActivityTypes(db()), appActivityTypes(db())];
    for (let round = 0; round < 3; round++) {
      const inserts = Array.from({ length: 25 }, (_, n) =>
        replicas.map((types, of) => types.insert(named(`Name${round}`, `${round}/${n}/${of}`))),
      );
      const made = await Promise.all(inserts.flat());
      expect(made.filter(Boolean)).to.have.length(1);
    }
  });
});
