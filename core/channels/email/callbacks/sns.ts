import { verify, X509Certificate } from "node:crypto";
import type { CallbackRequest } from "../../kit/callbacks.ts";
import { jsonOf, textOf } from "../../kit/reading.ts";

/**
 * Messages of Amazon SNS over HTTPS. Sources: Amazon SNS, "Parsing Amazon SNS message formats", "Verifying the signatures
 * of Amazon SNS messages" (2026-11).
 */
export type SnsMessage = {
  type: "Notification" | "SubscriptionConfirmation" | "UnsubscribeConfirmation";
  topicArn: string;
  timestamp: Date;
  message: string;
  subscribeUrl: string | null;
  certificateUrl: string;
  isSigned: (certificate: string) => boolean;
};

/** Which members are signed, in their order; `Subject` only where there is one. */
const signed = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
  UnsubscribeConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
} as const satisfies Record<SnsMessage["type"], readonly string[]>;

/** By `SignatureVersion`. */
const digests: Readonly<Record<string, string>> = { 1: "sha1", 2: "sha256" };

/** Reads a message; null for what is none, or names addresses that are not Amazon's own. */
export const snsMessage = (body: CallbackRequest["body"]): SnsMessage | null => {
  const given = jsonOf(body);
  const type = textOf(given, "Type") ?? "";
  const topicArn = textOf(given, "TopicArn");
  const timestamp = new Date(textOf(given, "Timestamp") ?? "");
  const certificateUrl = amazonUrl(textOf(given, "SigningCertURL"));
  if (!Object.hasOwn(signed, type) || topicArn === null || certificateUrl === null) return null;
  const known = type as SnsMessage["type"]; // sound: it is a member
  return {
    type: known,
    topicArn,
    timestamp,
    message: textOf(given, "Message") ?? "",
    subscribeUrl: amazonUrl(textOf(given, "SubscribeURL")),
    certificateUrl,
    isSigned: (certificate) => isSigned(given, known, certificate),
  };
};

const isSigned = (given: unknown, type: SnsMessage["type"], certificate: string): boolean => {
  const digest = digests[textOf(given, "SignatureVersion") ?? ""];
  const signature = Buffer.from(textOf(given, "Signature") ?? "", "base64");
  if (digest === undefined) return false;
  const text = signed[type].flatMap((name) => {
    const value = textOf(given, name);
    return value === null ? [] : [`${name}\n${value}\n`];
  });
  try {
    return verify(digest, Buffer.from(text.join("")), new X509Certificate(certificate).publicKey, signature);
  } catch {
    return false; // the certificate is none
  }
};

/** The address when it is of Amazon SNS itself: anybody could sign with a certificate of their own. */
const amazonUrl = (text: string | null): string | null => {
  const url = text !== null && URL.canParse(text) ? new URL(text) : null;
  const isAmazons =
    url?.protocol === "https:" &&
    /^sns\.[a-z0-9-]{1,32}\.amazonaws\.com(\.cn)?$/.test(url.hostname) &&
    [url.port, url.username, url.password].every((part) => part === "");
  return isAmazons ? url.href : null;
};
