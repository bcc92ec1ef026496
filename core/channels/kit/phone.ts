import { worded } from "../../schema/json/patterns.ts";
import { bad, type Checked, good } from "./channel.ts";

/** A phone number as ITU-T E.164 writes it, with separators. */
export const phonePattern = worded(
  "^\\+[0-9 ().-]+$",
  "must be a phone number with its country's code, such as +4915112345678",
);

/** A phone number as ITU-T E.164 writes it: `+`, country code and number, 15 digits at most. Separators are left out. */
export const checkPhone = (given: string): Checked => {
  const number = given.replaceAll(/[ ().-]/g, "");
  return /^\+[1-9]\d{6,14}$/.test(number)
    ? good(number)
    : bad("must be a phone number as E.164, such as +4915112345678");
};

/** Three characters at both ends. Source: docs/reference/channels.md#addresses. */
export const maskPhone = (number: string): string =>
  number.length > 6 ? `${number.slice(0, 3)}•••${number.slice(-3)}` : "•••";
