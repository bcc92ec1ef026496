import { expect } from "chai";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { testWebhook } from "../../../../apiserver/webhooks/test.ts";
import { handClock } from "../../../support/rows/work.ts";

describe("a test of a webhook", () => {
  const endpoint = { _id: "whk_1", tenant_id: "ten_1", app_id: "app_1", timeout_ms: 1_000 } as WebhookRow; // as it reads it
  const resourceOf = (outcome: "sent" | "gone"): Promise<unknown> =>
    testWebhook({
      history: { find: async () => null },
      limit: async () => undefined,
      nats: { ask: async () => ({ outcome, delivery_id: "whd_1" }) },
      subjects: { webhookTests: () => "tests" },
      clock: handClock(),
    })(endpoint, { id: "evt_1", at: null }).catch((error: unknown) => error);

  it("misses its delivery, or its endpoint, by name", async () => {
    expect(await resourceOf("sent")).to.have.nested.property("details.resource", "delivery");
    expect(await resourceOf("gone")).to.have.nested.property("details.resource", "webhook");
  });
});
