import { createHmac } from "node:crypto";

export type SignatureInput = {
  /** `whsec_` and base64 of the key; the current secret first, the previous one after it while it is valid. */
  secrets: readonly [string, ...string[]];
  eventId: string;
  at: Date;
  body: string;
};

/**
 * Headers that prove where a webhook comes from: `Service-Signature`, and the three of Standard Webhooks over the same
 * bytes `id.timestamp.body` with the same keys, so that its libraries verify without code of ours. Source: decisions 10.1.
 */
export const signatureHeaders = ({ secrets, eventId, at, body }: SignatureInput): Record<string, string> => {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const macs = secrets.map((secret) => createHmac("sha256", keyOf(secret)).update(`${eventId}.${timestamp}.${body}`));
  const digests = macs.map((mac) => mac.digest());
  return {
    "service-signature": [`t=${timestamp}`, ...digests.map((digest) => `v1=${digest.toString("hex")}`)].join(","),
    "webhook-id": eventId,
    "webhook-timestamp": timestamp,
    "webhook-signature": digests.map((digest) => `v1,${digest.toString("base64")}`).join(" "),
  };
};

const keyOf = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ""), "base64");
