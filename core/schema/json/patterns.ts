import { type IdKind, idPrefixes } from "../vocabulary/id-prefixes.ts";

const words = new Map<string, string>();

/**
 * Gives a pattern of a schema the words that a person gets to read instead of it: half a sentence that follows the
 * member's name, such as "must be two capital letters". The pattern comes back as it is.
 * @throws Error for a pattern that has other words already
 */
export const worded = (pattern: string, message: string): string => {
  const known = words.get(pattern);
  if (known !== undefined && known !== message) throw new Error(`${pattern} has other words: ${known}`);
  words.set(pattern, message);
  return pattern;
};

/** What to tell a person whose text has not the form of a pattern; undefined for one that is no schema of ours. */
export const wordsOf = (pattern: string): string | undefined => words.get(pattern);

/** Ids of this service, by what they are of. */
export const idPattern = (kind: IdKind): string => `^${idPrefixes[kind]}_[0-7][0-9A-HJKMNP-TV-Z]{25}$`;

/** Patterns of members in several schemas, by name. */
export const patterns = {
  subscriptionId: worded(
    idPattern("subscription"),
    "must be the id of a subscription: sub_ and 26 digits and capital letters",
  ),
  userId: worded(idPattern("user"), "must be the id of a user: usr_ and 26 digits and capital letters"),
  cursor: worded("^[A-Za-z0-9_.-]+$", "is not valid"),
  revision: worded("^[0-9]{1,15}$", "must be the id of an event of this stream"),
  idempotencyKey: worded("^[\\x21-\\x7e]+$", "must be visible ASCII characters"),
  headerValue: worded("^[\\t\\x20-\\x7e]*$", "must be visible ASCII characters, spaces and tabs"),
  httpAddress: worded("^[Hh][Tt][Tt][Pp][Ss]?://\\S+$", "must be an https address"),
  /** A path in a JSON document, whose names have no dots. */
  dotPath: worded("^[^.]+(\\.[^.]+)*$", "must be names with a dot between them, such as data.properties.plan"),
  aliasLabel: worded("^[a-z0-9_]{1,64}$", "must be 1 to 64 small letters, digits and _"),
  noNull: worded("^[^\\u0000]*$", "must not contain U+0000"),
  /** BCP 47 with the primary subtag in small letters. */
  language: worded("^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$", "must be a language code such as en or pt-BR"),
  /** 65 bytes, of which the first is 4: base64 or base64url, with padding or without. Source: RFC 8291 3.1. */
  p256dh: worded("^B[A-P][A-Za-z0-9_+/-]{85}={0,2}$", "must be base64url of an uncompressed P-256 point, 65 bytes"),
  /** 16 bytes. Source: RFC 8291 3.2. */
  webPushAuth: worded("^[A-Za-z0-9_+/-]{22}={0,2}$", "must be base64url of 16 bytes"),
  /** RFC 3339 with an offset of hours alone, without a colon, or without any: then it is UTC. */
  dateTime: worded(
    "^\\d{4}-[01]\\d-[0-3]\\d[Tt ]([0-2]\\d:[0-5]\\d:[0-5]\\d|23:59:60)(\\.\\d+)?([Zz]|[+-]\\d{2}(:?\\d{2})?)?$",
    "must be an ISO 8601 date and time, such as 2026-01-31T09:00:00Z",
  ),
  /** With seconds or without, or with a half of the day. */
  timeOfDay: worded(
    "^([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$|^(0?[1-9]|1[0-2]):[0-5][0-9] ?[AaPp][Mm]$",
    "must be a time of day, such as 9:00, 21:45:30 or 9:00PM",
  ),
  /** What a name of the IANA database may look like; which there are changes with the database. */
  timeZone: worded("^[A-Za-z][A-Za-z0-9_+/-]*$", "must be a name of the IANA time zone database"),
} as const;
