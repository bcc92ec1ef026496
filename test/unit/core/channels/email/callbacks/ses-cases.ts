import { at, type Case, deliveryId } from "./cases.ts";

const ofSes = (own: object) => ({
  mail: {
    timestamp: at,
    messageId: "0100-ses",
    destination: ["Ada@Example.com"],
    headers: [{ name: "Message-ID", value: `<${deliveryId}@shop.example>` }],
  },
  ...own,
});
const sesBounce = (own: object, recipient: object = {}) =>
  ofSes({ eventType: "Bounce", bounce: { timestamp: at, bouncedRecipients: [recipient], ...own } });

/** Every event that is documented. */
export const sesCases: Case[] = [
  { it: "Send", event: ofSes({ eventType: "Send", send: {} }), expect: "sent" },
  { it: "Delivery", event: ofSes({ eventType: "Delivery", delivery: { timestamp: at } }), expect: "delivered" },
  {
    it: "Delivery of a topic of the identity",
    event: ofSes({ notificationType: "Delivery", delivery: { timestamp: at } }),
    expect: "delivered",
  },
  { it: "Open", event: ofSes({ eventType: "Open", open: { timestamp: at, userAgent: "UA" } }), expect: "opened" },
  {
    it: "Click",
    event: ofSes({ eventType: "Click", click: { timestamp: at, link: "https://shop.example/" } }),
    expect: "clicked",
  },
  {
    it: "Open by Apple's proxy",
    event: ofSes({ eventType: "Open", open: { timestamp: at, userAgent: "Mozilla/5.0" } }),
    expect: "opened by a machine",
  },
  {
    it: "Click by a robot",
    event: ofSes({ eventType: "Click", click: { timestamp: at, link: "https://shop.example/", userAgent: "a-bot/1" } }),
    expect: "clicked by a machine",
  },
  {
    it: "Complaint",
    event: ofSes({ eventType: "Complaint", complaint: { timestamp: at, complaintFeedbackType: "abuse" } }),
    expect: "complained",
  },
  {
    it: "Reject",
    event: ofSes({ eventType: "Reject", reject: { reason: "Bad content" } }),
    expect: "errored CONTENT_BLOCKED",
  },
  {
    it: "DeliveryDelay",
    event: ofSes({ eventType: "DeliveryDelay", deliveryDelay: { timestamp: at } }),
    expect: null,
  },
  { it: "Rendering Failure", event: ofSes({ eventType: "Rendering Failure" }), expect: null },
  {
    it: "Subscription that unsubscribes from all",
    event: ofSes({
      eventType: "Subscription",
      subscription: { timestamp: at, newTopicPreferences: { unsubscribeAll: true } },
    }),
    expect: "unsubscribed",
  },
  {
    it: "Subscription that does not",
    event: ofSes({
      eventType: "Subscription",
      subscription: { timestamp: at, newTopicPreferences: { unsubscribeAll: false } },
    }),
    expect: null,
  },
  {
    it: "Permanent, General, 5.1.1",
    event: sesBounce(
      { bounceType: "Permanent", bounceSubType: "General" },
      { status: "5.1.1", diagnosticCode: "smtp; 550 5.1.1 user unknown" },
    ),
    expect: "bounced hard HARD_BOUNCE",
  },
  {
    it: "Permanent, General, without a status",
    event: sesBounce({ bounceType: "Permanent", bounceSubType: "General" }),
    expect: "bounced hard HARD_BOUNCE",
  },
  {
    it: "Permanent, General, by policy",
    event: sesBounce({ bounceType: "Permanent", bounceSubType: "General" }, { status: "5.7.1" }),
    expect: "errored SPAM_REJECTED",
  },
  {
    it: "Permanent, NoEmail",
    event: sesBounce({ bounceType: "Permanent", bounceSubType: "NoEmail" }),
    expect: "bounced hard HARD_BOUNCE",
  },
  {
    it: "Permanent, Suppressed",
    event: sesBounce({ bounceType: "Permanent", bounceSubType: "Suppressed" }),
    expect: "bounced hard HARD_BOUNCE",
  },
  {
    it: "Permanent, OnAccountSuppressionList",
    event: sesBounce({ bounceType: "Permanent", bounceSubType: "OnAccountSuppressionList" }),
    expect: "bounced hard HARD_BOUNCE",
  },
  {
    it: "Permanent, UnsubscribedRecipient",
    event: sesBounce({ bounceType: "Permanent", bounceSubType: "UnsubscribedRecipient" }),
    expect: "unsubscribed",
  },
  {
    it: "Transient, General",
    event: sesBounce({ bounceType: "Transient", bounceSubType: "General" }),
    expect: "bounced soft SOFT_BOUNCE",
  },
  {
    it: "Transient, MailboxFull",
    event: sesBounce({ bounceType: "Transient", bounceSubType: "MailboxFull" }),
    expect: "bounced soft MAILBOX_FULL",
  },
  {
    it: "Transient, MessageTooLarge",
    event: sesBounce({ bounceType: "Transient", bounceSubType: "MessageTooLarge" }),
    expect: "errored PAYLOAD_TOO_LARGE",
  },
  {
    it: "Transient, ContentRejected",
    event: sesBounce({ bounceType: "Transient", bounceSubType: "ContentRejected" }),
    expect: "errored CONTENT_BLOCKED",
  },
  {
    it: "Transient, AttachmentRejected",
    event: sesBounce({ bounceType: "Transient", bounceSubType: "AttachmentRejected" }),
    expect: "errored CONTENT_BLOCKED",
  },
  {
    it: "Undetermined",
    event: sesBounce({ bounceType: "Undetermined", bounceSubType: "Undetermined" }),
    expect: "bounced soft SOFT_BOUNCE",
  },
];
