import { type IdKind, idPrefixes } from "../vocabulary/id-prefixes.ts";

/** Texts of one form, as JSON Schema writes it, and what to tell a person whose text has another. */
type Pattern = { pattern: string; message: string };

const idOf = (kind: IdKind, what: string): Pattern => ({
  pattern: `^${idPrefixes[kind]}_[0-7][0-9A-HJKMNP-TV-Z]{25}$`,
  message: `is not an id of this service: must be a ${what}'s`,
});

const known = {
  subscriptionId: idOf("subscription", "subscription"),
  userId: idOf("user", "user"),
  cursor: { pattern: "^[A-Za-z0-9_.-]+$", message: "is not valid" },
  idempotencyKey: { pattern: "^[\\x21-\\x7e]+$", message: "must be visible ASCII characters" },
  httpAddress: { pattern: "^[Hh][Tt][Tt][Pp][Ss]?://\\S+$", message: "must be an https address" },
  /** 65 bytes, of which the first is 4: base64 or base64url, with padding or without. Source: RFC 8291 3.1. */
  p256dh: {
    pattern: "^B[A-P][A-Za-z0-9_+/-]{85}={0,2}$",
    message: "must be base64url of an uncompressed P-256 point, 65 bytes",
  },
  /** 16 bytes. Source: RFC 8291 3.2. */
  webPushAuth: { pattern: "^[A-Za-z0-9_+/-]{22}={0,2}$", message: "must be base64url of 16 bytes" },
  /** RFC 3339 with an offset of hours alone, without a colon, or without any: then it is UTC. */
  dateTime: {
    pattern:
      "^\\d{4}-[01]\\d-[0-3]\\d[Tt ]([0-2]\\d:[0-5]\\d:[0-5]\\d|23:59:60)(\\.\\d+)?([Zz]|[+-]\\d{2}(:?\\d{2})?)?$",
    message: "must be an ISO 8601 date and time, such as 2026-01-31T09:00:00Z",
  },
  /** What a name of the IANA database may look like; which there are changes with the database. */
  timeZone: { pattern: "^[A-Za-z][A-Za-z0-9_+/-]*$", message: "must be a name of the IANA time zone database" },
} as const satisfies Record<string, Pattern>;

/** Patterns of members that need more than a bound on their length, by name. */
export const patterns = Object.fromEntries(
  Object.entries(known).map(([name, { pattern }]) => [name, pattern]),
) as Record<keyof typeof known, string>; // sound: one for each

/** What to tell about each of them. */
export const patternMessages: ReadonlyMap<string, string> = new Map(
  Object.values(known).map(({ pattern, message }) => [pattern, message]),
);
