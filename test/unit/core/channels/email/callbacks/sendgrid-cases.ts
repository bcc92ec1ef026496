import { type Case, deliveryId, seconds } from "./cases.ts";

const ofSendgrid = (own: object) => ({
  timestamp: seconds,
  email: "ada@example.com",
  "herald-delivery": deliveryId,
  sg_message_id: "sg",
  ...own,
});

/** Every event that is documented. */
export const sendgridCases: Case[] = [
  { it: "processed", event: ofSendgrid({ event: "processed" }), expect: "sent" },
  { it: "delivered", event: ofSendgrid({ event: "delivered" }), expect: "delivered" },
  { it: "deferred", event: ofSendgrid({ event: "deferred" }), expect: null },
  { it: "open", event: ofSendgrid({ event: "open", useragent: "UA" }), expect: "opened" },
  {
    it: "open by a machine",
    event: ofSendgrid({ event: "open", sg_machine_open: true }),
    expect: "opened by a machine",
  },
  { it: "click", event: ofSendgrid({ event: "click", url: "https://shop.example/" }), expect: "clicked" },
  {
    it: "open by Gmail's proxy",
    event: ofSendgrid({ event: "open", useragent: "Mozilla/5.0 (via ggpht.com GoogleImageProxy)" }),
    expect: "opened by a machine",
  },
  {
    it: "click by a robot",
    event: ofSendgrid({ event: "click", url: "https://shop.example/", useragent: "a-bot/1" }),
    expect: "clicked by a machine",
  },
  { it: "spamreport", event: ofSendgrid({ event: "spamreport" }), expect: "complained" },
  { it: "unsubscribe", event: ofSendgrid({ event: "unsubscribe" }), expect: "unsubscribed" },
  {
    it: "group_unsubscribe, of SendGrid's own groups",
    event: ofSendgrid({ event: "group_unsubscribe" }),
    expect: null,
  },
  {
    it: "bounce",
    event: ofSendgrid({ event: "bounce", type: "bounce", reason: "550 no such user" }),
    expect: "bounced hard HARD_BOUNCE",
  },
  {
    it: "bounce, Invalid Address",
    event: ofSendgrid({ event: "bounce", type: "blocked", bounce_classification: "Invalid Address" }),
    expect: "bounced hard HARD_BOUNCE",
  },
  {
    it: "bounce, Content",
    event: ofSendgrid({ event: "bounce", type: "bounce", bounce_classification: "Content" }),
    expect: "errored CONTENT_BLOCKED",
  },
  {
    it: "bounce, Reputation",
    event: ofSendgrid({ event: "bounce", type: "blocked", bounce_classification: "Reputation" }),
    expect: "errored SPAM_REJECTED",
  },
  {
    it: "bounce, Technical",
    event: ofSendgrid({ event: "bounce", type: "blocked", bounce_classification: "Technical" }),
    expect: "bounced soft SOFT_BOUNCE",
  },
  {
    it: "bounce, Mailbox Unavailable, 5.2.2",
    event: ofSendgrid({
      event: "bounce",
      type: "blocked",
      status: "5.2.2",
      bounce_classification: "Mailbox Unavailable",
    }),
    expect: "bounced soft MAILBOX_FULL",
  },
  {
    it: "dropped, Bounced Address",
    event: ofSendgrid({ event: "dropped", reason: "Bounced Address" }),
    expect: "bounced hard HARD_BOUNCE",
  },
  {
    it: "dropped, Spam Reporting Address",
    event: ofSendgrid({ event: "dropped", reason: "Spam Reporting Address" }),
    expect: "complained",
  },
  {
    it: "dropped, Unsubscribed Address",
    event: ofSendgrid({ event: "dropped", reason: "Unsubscribed Address" }),
    expect: "unsubscribed",
  },
  {
    it: "dropped, Invalid",
    event: ofSendgrid({ event: "dropped", reason: "Invalid" }),
    expect: "failed RECIPIENT_INVALID",
  },
  {
    it: "dropped, Spam Content",
    event: ofSendgrid({ event: "dropped", reason: "Spam Content (if spam checker app enabled)" }),
    expect: "errored CONTENT_BLOCKED",
  },
  {
    it: "dropped, over its quota",
    event: ofSendgrid({ event: "dropped", reason: "Recipient List over Package Quota" }),
    expect: "errored PROVIDER_REJECTED",
  },
];
