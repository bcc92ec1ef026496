import type { ContactChannel } from "../../schema/vocabulary/channels.ts";

/** Whether something came through to an address, or its provider calls the address gone. */
export type Verdict = { deliveryId: string; isGone: boolean };

/** Verdicts that are remembered of a group. Source: docs/reference/suppressions.md#doubt. */
export const mostVerdicts = 20;

/** Whether most of the last verdicts call addresses gone: then it is more likely that a carrier or a server has a fault. */
export const isDoubted = (last: readonly Verdict[]): boolean =>
  last.slice(-mostVerdicts).filter(({ isGone }) => isGone).length * 2 > mostVerdicts;

/** What addresses have in common that a fault would concern: the country of a number, the domain of a mail address. */
export const groupOf = (channel: ContactChannel, address: string): string =>
  channel === "email" ? address.slice(address.lastIndexOf("@") + 1) : callingCode(address);

/** The country code of a number as E.164. Source: ITU-T E.164, Annex to Operational Bulletin 930: list of country codes. */
const callingCode = (number: string): string => {
  const digits = number.replace(/^\+/, "");
  const length = /^[17]/.test(digits) ? 1 : twoDigits.test(digits) ? 2 : 3;
  return `+${digits.slice(0, length)}`;
};

const twoDigits = /^(?:2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/;
