import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

export type SignatureInput = {
  /** The key of the current secret, then that of the previous one while it is valid. */
  keys: readonly [KeyObject, ...KeyObject[]];
  eventId: string;
  at: Date;
  body: string;
};

/**
 * Headers that prove where a webhook comes from: `Service-Signature`, and the three of Standard Webhooks over the same
 * bytes `id.timestamp.body` with the same keys. Source: docs/reference/webhooks.md#signature.
 */
export const signatureHeaders = ({ keys, eventId, at, body }: SignatureInput): Record<string, string> => {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const macs = keys.map((key) => createHmac("sha256", key).update(`${eventId}.${timestamp}.${body}`));
  const digests = macs.map((mac) => mac.digest());
  return {
    "service-signature": [`t=${timestamp}`, ...digests.map((digest) => `v1=${digest.toString("hex")}`)].join(","),
    "webhook-id": eventId,
    "webhook-timestamp": timestamp,
    "webhook-signature": digests.map((digest) => `v1,${digest.toString("base64")}`).join(" "),
  };
};

/** The key of a secret (`whsec_` and base64). Made once for many requests, as it costs four times as much as a signature. */
export const signingKey = (secret: string): KeyObject =>
  createSecretKey(Buffer.from(secret.replace(/^whsec_/, ""), "base64"));
