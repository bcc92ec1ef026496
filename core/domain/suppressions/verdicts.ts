import type { ContactChannel } from "../../schema/vocabulary/channels.ts";

/** Whether something came through to an address, or its provider calls the address gone. */
export type Verdict = { deliveryId: string; isGone: boolean };

/** Verdicts that are remembered of a group; as many are enough to judge by. Source: docs/reference/suppressions.md#doubt. */
export const mostVerdicts = 20;

/**
 * Whether what calls addresses of a country or a mail domain gone is doubted: most of its verdicts say so, and it is more
 * likely that a carrier or a server has a fault.
 */
export const isGroupDoubted = (verdicts: readonly Verdict[]): boolean =>
  goneAmong(verdicts) * 2 > Math.max(verdicts.length, mostVerdicts);

const mostGone = 0.95; // of an account's verdicts; more is "nearly all"

/**
 * Whether an account is doubted whose provider answers that an address is gone: it says so of nearly all, and the
 * environment, bundle, project or server is more likely wrong. As long as there are few verdicts, an address is believed
 * to be gone when another was accepted, or when the provider itself says that it was `unregistered`.
 */
export const isAccountDoubted = (verdicts: readonly Verdict[], isUnregistered: boolean): boolean => {
  const gone = goneAmong(verdicts);
  if (verdicts.length >= mostVerdicts) return gone >= verdicts.length * mostGone;
  return gone === verdicts.length && !isUnregistered;
};

const goneAmong = (verdicts: readonly Verdict[]): number => verdicts.filter(({ isGone }) => isGone).length;

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
