import { ios } from "../support/manifests.ts";

const chat = { phoneNumberId: "106540352242922", secretRef: { name: "chat" } };
const mail = { host: "smtp.example", fromAddress: "a@b.example" };

const twilio = { accountSid: `AC${"1".repeat(32)}`, senders: ["+15005550006"] };
const overTwilio = { accountSid: `AC${"3".repeat(32)}`, sender: "+15005550026" };
const rcs = {
  accountSid: `AC${"2".repeat(32)}`,
  sender: "rcs:shop",
  messagingServiceSid: `MG${"2".repeat(32)}`,
  secretRef: { name: "rcs" },
};

/** What the schema of an App refuses of its accounts, and what it says. */
export const accountCases: readonly [it: string, channels: object, says: string][] = [
  ["a team id of another length", { ios: { ...ios, teamId: "A" } }, "teamId"],
  ["an app of Huawei without its id", { huawei: { appId: "shop", secretRef: { name: "x" } } }, "appId"],
  ["a mail user without a Secret", { email: { ...mail, username: "u" } }, "secretRef goes with username or dkim"],
  [
    "a mail Secret for nothing",
    { email: { ...mail, secretRef: { name: "x" } } },
    "secretRef goes with username or dkim",
  ],
  ["an APNs account without a Secret", { ios: { ...ios, secretRef: undefined } }, "secretRef: Required"],
  ["an APNs account of another service", { ios: { ...ios, environment: "test" } }, "Unsupported value"],
  ["an FCM account without a Secret", { android: {} }, "secretRef: Required"],
  [
    "an SMS account without its provider's members",
    { sms: { secretRef: { name: "sms" } } },
    "twilio goes with the provider twilio",
  ],
  [
    "an SMS account with another provider's members",
    { sms: { provider: "vonage", twilio, secretRef: { name: "sms" } } },
    "vonage goes with the provider vonage",
  ],
  [
    "an SMS account of Twilio without a sender",
    { sms: { twilio: { ...twilio, senders: undefined }, secretRef: { name: "sms" } } },
    "messagingServiceSid or senders is required",
  ],
  [
    "an SMS sender that is none",
    { sms: { twilio: { ...twilio, senders: ["Shöp"] }, secretRef: { name: "sms" } } },
    "senders",
  ],
  ["an RCS account whose sender is a number", { rcs: { ...rcs, sender: "+15005550006" } }, "sender"],
  ["web push without a contact", { web: { secretRef: { name: "web" } } }, "subject: Required"],
  ["web push with another contact", { web: { subject: "tel:+49", secretRef: { name: "web" } } }, "subject"],
  ["mail without a sender", { email: { host: "smtp.example" } }, "fromAddress: Required"],
  ["mail from a name of two lines", { email: { ...mail, fromName: "a\nBcc: b" } }, "fromName"],
  ["mail from no address", { email: { ...mail, fromAddress: "me" } }, "fromAddress"],
  ["mail over no port", { email: { ...mail, port: 0 } }, "port"],
  ["mail with half a security", { email: { ...mail, security: "maybe" } }, "Unsupported value"],
  [
    "a signature without its Secret",
    { email: { ...mail, dkim: { domain: "a.example", selector: "s" } } },
    "secretRef goes with username or dkim",
  ],
  [
    "WhatsApp from a number instead of its id",
    { whatsapp: { ...chat, phoneNumberId: "+4915112345678" } },
    "phoneNumberId",
  ],
  ["WhatsApp faster than Meta ever takes it", { whatsapp: { ...chat, messagesPerSecond: 1_001 } }, "messagesPerSecond"],
  [
    "WhatsApp over Twilio without its members",
    { whatsapp: { provider: "twilio", secretRef: chat.secretRef } },
    "twilio goes with the provider twilio",
  ],
  [
    "WhatsApp over Twilio with a version of Meta's",
    { whatsapp: { provider: "twilio", twilio: overTwilio, apiVersion: "v25.0", secretRef: chat.secretRef } },
    "apiVersion is for the provider meta",
  ],
  [
    "WhatsApp at Meta without its number",
    { whatsapp: { secretRef: chat.secretRef } },
    "phoneNumberId goes with the provider meta",
  ],
  ["WhatsApp without a Secret", { whatsapp: { phoneNumberId: chat.phoneNumberId } }, "secretRef: Required"],
  ["a Secret of a name that none can have", { android: { secretRef: { name: "A_b" } } }, "secretRef.name"],
];
