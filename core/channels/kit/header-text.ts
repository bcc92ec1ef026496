import { createHash } from "node:crypto";

/**
 * A sender's text as a provider's header may carry it: the text itself when it is all `allowed`, else the beginning of its
 * SHA-256 in base64url, so that equal texts stay equal and others differ. Null for the empty text.
 */
export const headerText = (text: string | undefined, allowed: RegExp, hashCharacters = 43): string | null => {
  if (!text) return null;
  return allowed.test(text) ? text : createHash("sha256").update(text).digest("base64url").slice(0, hashCharacters);
};
