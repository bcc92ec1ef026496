import { at, type Case, deliveryId } from "./cases.ts";

const ofPostmark = (own: object) => ({
  MessageID: "pm",
  Recipient: "ada@example.com",
  Metadata: { "herald-delivery": deliveryId },
  ...own,
});
const postmarkBounce = (type: string, details = "") =>
  ofPostmark({ RecordType: "Bounce", Type: type, Details: details, Email: "ada@example.com", BouncedAt: at });

/** Every event that is documented. */
export const postmarkCases: Case[] = [
  { it: "Delivery", event: ofPostmark({ RecordType: "Delivery", DeliveredAt: at }), expect: "delivered" },
  { it: "Open", event: ofPostmark({ RecordType: "Open", ReceivedAt: at, UserAgent: "UA" }), expect: "opened" },
  {
    it: "Open by Apple's proxy",
    event: ofPostmark({ RecordType: "Open", ReceivedAt: at, UserAgent: "Mozilla/5.0" }),
    expect: "opened by a machine",
  },
  {
    it: "Click by a robot",
    event: ofPostmark({
      RecordType: "Click",
      ReceivedAt: at,
      OriginalLink: "https://shop.example/",
      UserAgent: "a-bot/1",
    }),
    expect: "clicked by a machine",
  },
  {
    it: "Click",
    event: ofPostmark({ RecordType: "Click", ReceivedAt: at, OriginalLink: "https://shop.example/" }),
    expect: "clicked",
  },
  {
    it: "SpamComplaint",
    event: ofPostmark({ RecordType: "SpamComplaint", Email: "ada@example.com", BouncedAt: at }),
    expect: "complained",
  },
  {
    it: "SubscriptionChange by hand",
    event: ofPostmark({
      RecordType: "SubscriptionChange",
      ChangedAt: at,
      SuppressSending: true,
      SuppressionReason: "ManualSuppression",
    }),
    expect: "unsubscribed",
  },
  {
    it: "SubscriptionChange after a bounce",
    event: ofPostmark({
      RecordType: "SubscriptionChange",
      ChangedAt: at,
      SuppressSending: true,
      SuppressionReason: "HardBounce",
    }),
    expect: null,
  },
  {
    it: "SubscriptionChange that ends",
    event: ofPostmark({ RecordType: "SubscriptionChange", ChangedAt: at, SuppressSending: false }),
    expect: null,
  },
  {
    it: "HardBounce",
    event: postmarkBounce("HardBounce", "smtp;550 5.1.1 unknown"),
    expect: "bounced hard HARD_BOUNCE",
  },
  {
    it: "HardBounce by policy",
    event: postmarkBounce("HardBounce", "smtp;550 5.7.1 denied"),
    expect: "errored SPAM_REJECTED",
  },
  { it: "BadEmailAddress", event: postmarkBounce("BadEmailAddress"), expect: "failed RECIPIENT_INVALID" },
  { it: "SoftBounce", event: postmarkBounce("SoftBounce"), expect: "bounced soft SOFT_BOUNCE" },
  { it: "DnsError", event: postmarkBounce("DnsError"), expect: "bounced soft SOFT_BOUNCE" },
  { it: "Unknown", event: postmarkBounce("Unknown"), expect: "bounced soft SOFT_BOUNCE" },
  { it: "SpamComplaint among bounces", event: postmarkBounce("SpamComplaint"), expect: "complained" },
  { it: "Unsubscribe", event: postmarkBounce("Unsubscribe"), expect: "unsubscribed" },
  { it: "SpamNotification", event: postmarkBounce("SpamNotification"), expect: "errored SPAM_REJECTED" },
  { it: "Blocked", event: postmarkBounce("Blocked"), expect: "errored SPAM_REJECTED" },
  { it: "DMARCPolicy", event: postmarkBounce("DMARCPolicy"), expect: "errored SPAM_REJECTED" },
  { it: "ManuallyDeactivated", event: postmarkBounce("ManuallyDeactivated"), expect: "errored PROVIDER_REJECTED" },
  { it: "Transient", event: postmarkBounce("Transient"), expect: null },
  { it: "AutoResponder", event: postmarkBounce("AutoResponder"), expect: null },
  { it: "AddressChange", event: postmarkBounce("AddressChange"), expect: null },
  { it: "ChallengeVerification", event: postmarkBounce("ChallengeVerification"), expect: null },
];
