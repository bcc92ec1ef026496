import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";

/** Signs texts of ours that others bring back: links, addresses of mail. */
export type Signer = {
  /** 30 hexadecimal digits, which fit where case is lost and room is short, as in a mail address. */
  sign: (text: string) => string;
  /** Whether a signature is of this text. It takes as long whatever of it is right. */
  isSigned: (text: string, signature: string) => boolean;
};

/** Signs with the first key; what any of the keys has signed is known. HMAC-SHA256, of which 120 bits are kept (RFC 2104 5). */
export const signer = ([first, ...others]: readonly [Buffer, ...Buffer[]]): Signer => {
  const key = createSecretKey(first); // made once: an HMAC with bytes as its key takes six times as long
  const keys = [key, ...others.map((one) => createSecretKey(one))];
  return {
    sign: (text) => signed(key, text),
    isSigned: (text, signature) => keys.some((one) => isEqual(signed(one, text), signature)),
  };
};

const signed = (key: KeyObject, text: string): string =>
  createHmac("sha256", key).update(text).digest("hex").slice(0, 30);

const isEqual = (wanted: string, given: string): boolean =>
  wanted.length === given.length && timingSafeEqual(Buffer.from(wanted), Buffer.from(given, "latin1"));
