import { expect } from "chai";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { failedReplies } from "../../../../dispatcher/conversations/failed.ts";
import { aMail } from "../../../support/callbacks/deliveries.ts";
import { seedConversation } from "../../../support/rows/conversations.ts";
import { testDatabase } from "../../../support/servers/database.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };

describe("replies that did not arrive", () => {
  const db = testDatabase("failed_replies");
  const told = (row: Partial<DeliveryRow>) => failedReplies(db())([aMail(of, row).delivery]);

  it("are told with what the provider said, once", async () => {
    const { row } = await seedConversation(db(), of);
    const failed = {
      conversation_id: row._id,
      status: "failed",
      error_code: "SESSION_CLOSED",
      provider_code: "131047",
    } as const;
    const [event, ...others] = await told(failed);
    expect(others).to.deep.equal([]);
    expect(event?.data["name"]).to.equal("hs.conversation.message_failed");
    const properties = event?.data["properties"] as Record<string, unknown>; // as such an event has them
    expect(properties).to.deep.include({
      conversation_id: row._id,
      cause: "provider",
      error: { code: "SESSION_CLOSED", message: null, provider_code: "131047" },
    });
    const twice = { ...aMail(of, failed).delivery, _id: "dlv_twice" };
    const ids = (await failedReplies(db())([twice, { ...twice, updated_at: new Date() }])).map(({ id }) => id);
    expect(new Set(ids).size).to.equal(1);
  });

  it("are told when they were held back before they were sent", async () => {
    const { row } = await seedConversation(db(), of);
    const [event] = await told({
      conversation_id: row._id,
      status: "suppressed",
      suppression_reason: "session_closed",
    });
    const properties = event?.data["properties"] as Record<string, unknown>; // as such an event has them
    expect(properties["error"]).to.include({ code: "SESSION_CLOSED" });
  });

  it("are none of what arrived, of notifications, of another app and of whom nothing is left", async () => {
    const { row } = await seedConversation(db(), of);
    const other = await seedConversation(db(), { ...of, app_id: "app_2" });
    for (const one of [
      { conversation_id: row._id, status: "sent" },
      { conversation_id: row._id, status: "failed", delivered_at: new Date() },
      { status: "failed" },
      { conversation_id: other.row._id, status: "failed" },
      { conversation_id: "cnv_gone", status: "failed" },
    ] as const)
      expect(await told(one), JSON.stringify(one)).to.deep.equal([]);
  });
});
