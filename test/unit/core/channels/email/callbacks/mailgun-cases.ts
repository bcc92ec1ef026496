import { type Case, deliveryId, seconds } from "./cases.ts";

const ofMailgun = (own: object) => ({
  timestamp: seconds,
  recipient: "ada@example.com",
  message: { headers: { "message-id": `${deliveryId}@shop.example` } },
  ...own,
});
const failedAtMailgun = (reason: string, status: object = {}, severity = "permanent") =>
  ofMailgun({ event: "failed", severity, reason, "delivery-status": status });

/** Every event that is documented. */
export const mailgunCases: Case[] = [
  { it: "accepted", event: ofMailgun({ event: "accepted" }), expect: "sent" },
  { it: "delivered", event: ofMailgun({ event: "delivered" }), expect: "delivered" },
  {
    it: "opened",
    event: ofMailgun({ event: "opened", "client-info": { "user-agent": "UA", bot: "" } }),
    expect: "opened",
  },
  {
    it: "opened by a bot",
    event: ofMailgun({ event: "opened", "client-info": { bot: "apple" } }),
    expect: "opened by a machine",
  },
  { it: "clicked", event: ofMailgun({ event: "clicked", url: "https://shop.example/" }), expect: "clicked" },
  { it: "complained", event: ofMailgun({ event: "complained" }), expect: "complained" },
  { it: "unsubscribed", event: ofMailgun({ event: "unsubscribed" }), expect: "unsubscribed" },
  { it: "failed for now", event: failedAtMailgun("generic", { code: 421 }, "temporary"), expect: null },
  {
    it: "failed, bounce 550",
    event: failedAtMailgun("bounce", { code: 550, message: "user unknown" }),
    expect: "bounced hard HARD_BOUNCE",
  },
  {
    it: "failed, bounce 550 by policy",
    event: failedAtMailgun("bounce", { code: 550, message: "5.7.1 blocked" }),
    expect: "errored SPAM_REJECTED",
  },
  { it: "failed, generic", event: failedAtMailgun("generic", { code: 554 }), expect: "bounced soft SOFT_BOUNCE" },
  {
    it: "failed, full",
    event: failedAtMailgun("bounce", { code: 552, message: "5.2.2 over quota" }),
    expect: "bounced soft MAILBOX_FULL",
  },
  { it: "failed, too old", event: failedAtMailgun("old", { code: 602 }), expect: "bounced soft SOFT_BOUNCE" },
  {
    it: "failed, suppress-bounce",
    event: failedAtMailgun("suppress-bounce", { code: 605 }),
    expect: "bounced hard HARD_BOUNCE",
  },
  {
    it: "failed, suppress-complaint",
    event: failedAtMailgun("suppress-complaint", { code: 607 }),
    expect: "complained",
  },
  {
    it: "failed, suppress-unsubscribe",
    event: failedAtMailgun("suppress-unsubscribe", { code: 606 }),
    expect: "unsubscribed",
  },
  { it: "what nobody knows yet", event: ofMailgun({ event: "forwarded" }), expect: null },
];
