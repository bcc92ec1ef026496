import { createDecipheriv, createECDH, createHash, hkdfSync } from "node:crypto";

/** What a browser hands to a site when its user agrees. Source: W3C Push API, PushSubscription. */
export type BrowserSubscription = { endpoint: string; keys: { p256dh: string; auth: string } };

/** Keys of the browser behind an endpoint. They follow from its id, so that nothing has to be kept. */
export const browserKeys = (id: string) => {
  const pair = createECDH("prime256v1");
  pair.setPrivateKey(digest(`private ${id}`)); // one of 2^32 ids would give no valid key
  const auth = digest(`auth ${id}`).subarray(0, 16);
  const publicKey = pair.getPublicKey();
  return {
    keys: { p256dh: publicKey.toString("base64url"), auth: auth.toString("base64url") },
    /** What the browser reads, or null when the message is not encrypted for it. Source: RFC 8291 4, RFC 8188 2. */
    decrypt: (message: Buffer): string | null => {
      try {
        return open(message, { pair, publicKey, auth });
      } catch {
        return null;
      }
    },
  };
};

const digest = (text: string): Buffer => createHash("sha256").update(`herald simulated browser ${text}`).digest();

type Browser = { pair: ReturnType<typeof createECDH>; publicKey: Buffer; auth: Buffer };

const open = (message: Buffer, { pair, publicKey, auth }: Browser): string => {
  const salt = message.subarray(0, 16);
  const keyLength = message.readUInt8(20);
  const sender = message.subarray(21, 21 + keyLength);
  const record = message.subarray(21 + keyLength);
  if (keyLength !== 65 || record.length > message.readUInt32BE(16))
    throw new RangeError("not one record for a P-256 key");
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), publicKey, sender]);
  const secret = hkdf(pair.computeSecret(sender), auth, info, 32);
  const key = hkdf(secret, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
  const nonce = hkdf(secret, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
  const decipher = createDecipheriv("aes-128-gcm", key, nonce).setAuthTag(record.subarray(-16));
  const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
  const end = padded.findLastIndex((byte) => byte !== 0);
  if (padded[end] !== 2) throw new RangeError("the record has no delimiter of a last record");
  return padded.subarray(0, end).toString("utf8");
};

const hkdf = (secret: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, salt, info, bytes));
