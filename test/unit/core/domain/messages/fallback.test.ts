import { expect } from "chai";
import { isMissed, type Missed } from "#core/domain/messages/fallback.ts";
import { type FallbackCondition, fallbackConditions } from "#core/schema/messages/fallback.ts";

const at = new Date("2026-03-01T12:00:00Z");
const sent = { status: "sent", sent_at: at } as const;

describe("isMissed", () => {
  const cases: { it: string; delivery: Missed; by: FallbackCondition[] }[] = [
    { it: "one that was sent", delivery: sent, by: ["not_delivered", "not_opened", "not_clicked"] },
    {
      it: "one that arrived",
      delivery: { ...sent, status: "delivered", delivered_at: at },
      by: ["not_opened", "not_clicked"],
    },
    { it: "one that was opened", delivery: { ...sent, status: "opened", opened_at: at }, by: ["not_clicked"] },
    { it: "one that was clicked", delivery: { ...sent, status: "clicked", clicked_at: at }, by: [] },
    {
      it: "one that a program opened",
      delivery: { ...sent, machine_opened_at: at },
      by: ["not_delivered", "not_opened", "not_clicked"],
    },
    ...(["failed", "errored", "expired", "bounced"] as const).map((status) => ({
      it: `one that is ${status}`,
      delivery: { status },
      by: [...fallbackConditions],
    })),
    {
      it: "one whose address was left out",
      delivery: { status: "suppressed", suppression_reason: "suppression_hard_bounce" },
      by: [...fallbackConditions],
    },
    ...["control_group", "frequency_cap", "quiet_hours", "duplicate_user", "template_abort", "quota"].map((reason) => ({
      it: `one that was left out by ${reason}`,
      delivery: { status: "suppressed" as const, suppression_reason: reason },
      by: [],
    })),
    { it: "a complaint", delivery: { ...sent, status: "complained", complained_at: at }, by: [] },
    { it: "one that was cancelled", delivery: { status: "cancelled" }, by: [] },
  ];
  for (const { it: name, delivery, by } of cases)
    it(`says of ${name}: ${by.join(", ") || "nothing"}`, () => {
      expect(fallbackConditions.filter((condition) => isMissed(delivery, condition))).to.have.members(by);
    });
});
