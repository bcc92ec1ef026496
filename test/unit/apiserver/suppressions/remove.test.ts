import { expect } from "chai";
import { suppressionRow } from "#core/storage/suppressions/suppressions.ts";
import { removeSuppression } from "../../../../apiserver/suppressions/remove.ts";
import { handClock, noon } from "../../../support/rows/work.ts";

const bounced = suppressionRow(
  { tenantId: "ten_1", appId: "app_1" },
  {
    id: "sup_1",
    about: { channel: "email", subject: "s", key: "k", address: "a@b.example", externalId: null, userId: null },
    said: { reason: "hard_bounce", source: "provider", note: null, categories: null, expires_at: null },
    at: noon,
  },
);

describe("lifting a suppression", () => {
  it("has restored the subscription before the entry is gone, so that a kill in between leaves nothing invalid", async () => {
    const done: string[] = [];
    const lift = removeSuppression({
      suppressions: { find: async () => bounced, remove: async () => done.push("removed") > 0 },
      subscriptions: { restore: async () => done.push("restored") > 0 },
      clock: handClock(),
    });
    expect(await lift(bounced, true)).to.deep.equal({ ok: true, restored: true });
    expect(done).to.deep.equal(["restored", "removed"]);
  });

  it("restores nothing by an entry that became one which a key cannot lift a moment ago", async () => {
    const restored: string[] = [];
    const lift = removeSuppression({
      suppressions: { find: async () => ({ ...bounced, reason: "legal" }), remove: async () => false },
      subscriptions: { restore: async (_of, { address }) => restored.push(address) > 1 },
      clock: handClock(),
    });
    expect(await lift({ ...bounced, reason: "manual" }, false).catch((error: Error) => error)).to.include({
      code: "HS_NOT_REMOVABLE",
    });
    expect(restored).to.deep.equal([]);
  });
});
