import { createCipheriv, createECDH, createHmac, randomBytes } from "node:crypto";

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
  const ours = fresh.privateKey === undefined ? pair.generateKeys() : ownPoint(fresh.privateKey);
  const salt = fresh.salt ?? randomBytes(16);
  const secret = expand(hmac(auth, pair.computeSecret(theirs)), keyInfo, theirs, ours);
  const key = hmac(salt, secret);
  const [contentKey, nonce] = [expand(key, contentKeyInfo).subarray(0, 16), expand(key, nonceInfo).subarray(0, 12)];
  const cipher = createCipheriv("aes-128-gcm", contentKey, nonce);
  const sealed = [cipher.update(plaintext, "utf8"), cipher.update(lastRecord), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat([salt, sizes, ours, ...sealed]);
};

const keyInfo = Buffer.from("WebPush: info\0");
const contentKeyInfo = Buffer.from("Content-Encoding: aes128gcm\0");
const nonceInfo = Buffer.from("Content-Encoding: nonce\0");
const lastRecord = Buffer.of(2); // padding delimiter of the last record
const sizes = Buffer.of(0, 0, 16, 0, 65); // record size 4096, length of our public key

/** Of the message that is being encrypted: one object for all spares making it. */
const pair = createECDH("prime256v1");

/** HKDF's first step, and its second for at most 32 bytes: half the cost of `hkdfSync`. Source: RFC 5869 2. */
const hmac = (key: Buffer, ...parts: readonly Buffer[]): Buffer => {
  const made = createHmac("sha256", key);
  for (const part of parts) made.update(part);
  return made.digest();
};

const expand = (key: Buffer, ...info: readonly Buffer[]): Buffer => hmac(key, ...info, firstBlock);

const firstBlock = Buffer.of(1);

const ownPoint = (privateKey: Buffer): Buffer => {
  pair.setPrivateKey(privateKey);
  return pair.getPublicKey();
};
