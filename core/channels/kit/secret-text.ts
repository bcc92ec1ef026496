import { createPrivateKey, type KeyObject } from "node:crypto";

/** Says what is wrong with a value of a Secret, without quoting it. */
export class BadSecret extends Error {}

/** @throws BadSecret when the text is no private key in PEM */
export const privateKeyOf = (pem: string): KeyObject => {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new BadSecret("is not a private key in PEM"); // the cause may quote it
  }
};
