import { hash } from "node:crypto";

/** Names what a reply shows: whoever has that already need not read it again. Source: RFC 9110 8.8.3. */
export const etagOf = (shown: string): string => `"${hash("sha256", shown, "base64url").slice(0, 22)}"`;

/** Whether a caller who says this in `If-None-Match` has what an ETag names. Source: RFC 9110 13.1.2. */
export const hasAlready = (ifNoneMatch: string | undefined, etag: string): boolean => {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return Array.from(ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g), ([, tag]) => tag).includes(etag);
};
