import { expect } from "chai";
import type { AuditFact } from "#core/queue/audit.ts";
import type { Managed } from "#core/storage/settings/managed.ts";
import { webhookEndpoints } from "#core/storage/webhooks/endpoints.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import type { Audit } from "../../../../apiserver/settings/audit.ts";
import { settings } from "../../../../apiserver/settings/settings.ts";
import { webhookSetting } from "../../../../apiserver/webhooks/use-cases.ts";
import { anApiKey, aPlan, aTenant } from "../../../support/rows/fixtures.ts";
import { aWebhook } from "../../../support/rows/webhooks.ts";
import { testDatabase } from "../../../support/servers/database.ts";

const resource: Managed = {
  kind: "Webhook",
  namespace: "shop",
  name: "crm",
  uid: "u-1",
  policy: "Enforce",
  deletion: "Delete",
  epoch: 1,
};

describe("the removal of a webhook that another writes to after it was read", () => {
  const db = testDatabase("webhook_races", []);
  const rows = () => db().collection<WebhookRow>(webhookCollection.name);
  const by = {
    caller: { tenant: aTenant(), plan: aPlan(), key: anApiKey({ tenant_id: "ten_1" }).row },
    ip: "::1",
    requestId: "r-1",
  };

  beforeEach(() => rows().deleteMany({}));

  /** Removes an endpoint that gets these members just before; what was reported of it. */
  const removed = async (set: Partial<WebhookRow>): Promise<AuditFact[]> => {
    const reported: AuditFact[] = [];
    const found = aWebhook();
    await rows().insertOne({ ...found });
    let isFirst = true;
    const audit: Audit = async ({ fact }, make) => {
      if (isFirst) await rows().updateOne({ _id: found._id }, { $set: { ...set, updated_at: new Date() } });
      isFirst = false;
      const made = await make("evb_1");
      if (made !== null) reported.push(fact);
      return made;
    };
    const platform = { nats: { changed: () => {} }, audit, plans: async () => [], clock: { now: () => new Date() } };
    await settings(platform, webhookSetting(webhookEndpoints(db()))).remove(by, found);
    return reported;
  };

  it("tells what it was like at last", async () => {
    const [fact, ...rest] = await removed({ description: "changed" });
    expect(rest).to.deep.equal([]);
    expect(fact?.changes["description"]).to.deep.equal({ before: "changed", after: null });
    expect(await rows().countDocuments()).to.equal(0);
  });

  it("is refused when a resource has taken it over", async () => {
    const error = await removed({ managed: resource }).catch((thrown: unknown) => thrown);
    expect(error).to.have.property("code", "HS_MANAGED");
    expect(await rows().findOne()).to.deep.include({ managed: resource });
  });
});
