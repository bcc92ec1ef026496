import { isDateTime } from "./property-types.ts";

/** Longer texts are somebody's words, or keys: neither is shown. */
const mostCharacters = 64;

const patterns = [
  /[^\s@]+@[^\s@]+\.[^\s@]+/, // a mail address, alone or within a text
  /^\+?(?:[\s().\-/]*\d){7,15}[\s().\-/]*$/, // a phone number, as people write it
  /[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}/i, // a UUID
];

/**
 * Whether a value may say who somebody is: a mail address, a phone number, a UUID, or a text of more than 64 characters.
 * Source: docs/reference/events.md#values-of-properties.
 */
export const looksPersonal = (value: string): boolean =>
  value.length > mostCharacters || (!isDateTime(value) && patterns.some((pattern) => pattern.test(value)));
