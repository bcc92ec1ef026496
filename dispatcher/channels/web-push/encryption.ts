import { createCipheriv, createECDH, hkdfSync, randomBytes } from "node:crypto";

/** A browser's keys for one subscription: base64url of an uncompressed P-256 point and of a 16-byte secret. */
export type WebPushKeys = { p256dh: string; auth: string };

/** What is fresh in each message; given only by the test of RFC 8291's example. */
export type Freshness = { privateKey?: Buffer; salt?: Buffer };

/**
 * Encrypts one web push as a single aes128gcm record. Throws when the keys are not a point and a secret.
 * Source: RFC 8291 3.4 (keys), RFC 8188 2 (record). Chosen over npm web-push: docs/decisions/0012-web-push.md.
 */
export const encryptWebPush = (plaintext: string, keys: WebPushKeys, fresh: Freshness = {}): Buffer => {
  const theirs = Buffer.from(keys.p256dh, "base64url");
  const auth = Buffer.from(keys.auth, "base64url");
  if (theirs.length !== 65 || auth.length !== 16) throw new RangeError("not the keys of a web push subscription");
  const pair = createECDH("prime256v1");
  const ours = fresh.privateKey === undefined ? pair.generateKeys() : ownPoint(pair, fresh.privateKey);
  const salt = fresh.salt ?? randomBytes(16);
  const secret = derive(pair.computeSecret(theirs), auth, Buffer.concat([keyInfo, theirs, ours]), 32);
  const cipher = createCipheriv(
    "aes-128-gcm",
    derive(secret, salt, contentKeyInfo, 16),
    derive(secret, salt, nonceInfo, 12),
  );
  const sealed = [cipher.update(plaintext, "utf8"), cipher.update(lastRecord), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat([salt, sizes, ours, ...sealed]);
};

const keyInfo = Buffer.from("WebPush: info\0");
const contentKeyInfo = Buffer.from("Content-Encoding: aes128gcm\0");
const nonceInfo = Buffer.from("Content-Encoding: nonce\0");
const lastRecord = Buffer.of(2); // padding delimiter of the last record
const sizes = Buffer.of(0, 0, 16, 0, 65); // record size 4096, length of our public key

const derive = (secret: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, salt, info, bytes));

const ownPoint = (pair: ReturnType<typeof createECDH>, privateKey: Buffer): Buffer => {
  pair.setPrivateKey(privateKey);
  return pair.getPublicKey();
};
