import { type KeyObject, verify } from "node:crypto";
import type { CallbackRequest } from "../../kit/callbacks.ts";
import { jsonOf, textOf } from "../../kit/reading.ts";
import { isCertificateUrl, isConfirmationUrl, type SnsTopic, topicOf } from "./sns-topic.ts";

/**
 * Messages of Amazon SNS over HTTPS. Sources: Amazon SNS, "Parsing Amazon SNS message formats", "Verifying the signatures
 * of Amazon SNS messages" (2026-11).
 */
export type SnsMessage = {
  type: "Notification" | "SubscriptionConfirmation" | "UnsubscribeConfirmation";
  topicArn: string;
  topic: SnsTopic;
  timestamp: Date;
  message: string;
  subscribeUrl: string | null;
  certificateUrl: string;
  /** Whether it was signed with this key, whosever that is. */
  isSigned: (key: KeyObject) => boolean;
};

/** Which members are signed, in their order; `Subject` only where there is one. */
const signed = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
  UnsubscribeConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
} as const satisfies Record<SnsMessage["type"], readonly string[]>;

/** By `SignatureVersion`. */
const digests: Readonly<Record<string, string>> = { 1: "sha1", 2: "sha256" };

/** Reads a message; null for what is none, or names a certificate that is not of SNS in the region of its topic. */
export const snsMessage = (body: CallbackRequest["body"]): SnsMessage | null => {
  const given = jsonOf(body);
  const type = textOf(given, "Type") ?? "";
  const topicArn = textOf(given, "TopicArn") ?? "";
  const topic = topicOf(topicArn);
  const certificateUrl = textOf(given, "SigningCertURL") ?? "";
  const subscribeUrl = textOf(given, "SubscribeURL") ?? "";
  if (!Object.hasOwn(signed, type) || topic === null || !isCertificateUrl(certificateUrl, topic)) return null;
  const known = type as SnsMessage["type"]; // sound: it is a member
  return {
    type: known,
    topicArn,
    topic,
    timestamp: new Date(textOf(given, "Timestamp") ?? ""),
    message: textOf(given, "Message") ?? "",
    subscribeUrl: isConfirmationUrl(subscribeUrl, topic) ? subscribeUrl : null,
    certificateUrl,
    isSigned: (key) => isSigned(given, known, key),
  };
};

const isSigned = (given: unknown, type: SnsMessage["type"], key: KeyObject): boolean => {
  const digest = digests[textOf(given, "SignatureVersion") ?? ""];
  const signature = Buffer.from(textOf(given, "Signature") ?? "", "base64");
  if (digest === undefined) return false;
  const text = signed[type].flatMap((name) => {
    const value = textOf(given, name);
    return value === null ? [] : [`${name}\n${value}\n`];
  });
  return verify(digest, Buffer.from(text.join("")), key, signature);
};
