import { settingOf } from "#core/domain/apps/settings.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { type Device, ownSubscription } from "./device.ts";
import { identityRefused } from "./identity.ts";

/**
 * The subscription of a device, for what is its person's: with an identity token that is theirs, where the app asks for one, or
 * where the device has logged in without. Source: docs/reference/devices.md#identity-tokens.
 * @throws AppError HS_UNAUTHENTICATED, HS_IDENTITY_TOKEN_INVALID
 */
export const ownPerson = (device: Device): SubscriptionRow => {
  const own = reportingPerson(device);
  if (unprovenSince(device, own) !== null) throw missing();
  return own;
};

/**
 * The subscription of a device, for its person's inbox; `from`: it has logged in without an identity token, and sees what came
 * since then alone. Source: docs/reference/inbox.md#devices. @throws AppError HS_UNAUTHENTICATED, HS_IDENTITY_TOKEN_INVALID
 */
export const readingPerson = (device: Device): { own: SubscriptionRow; from: Date | null } => {
  const own = reportingPerson(device);
  return { own, from: unprovenSince(device, own) };
};

/** Since when nothing proves that a device is its person's; null where something does, or the app asks for no proof. */
const unprovenSince = (device: Device, { unproven_since: since = null, external_id }: SubscriptionRow): Date | null =>
  device.identity === null && modeOf(device) === "optional" && external_id !== null ? since : null;

/**
 * The subscription of a device, for what it says of its person and reads nothing of: without a token wherever the app does not
 * require one. @throws AppError HS_UNAUTHENTICATED, HS_IDENTITY_TOKEN_INVALID
 */
export const reportingPerson = (device: Device): SubscriptionRow => {
  const own = ownSubscription(device);
  const { identity } = device;
  if (identity !== null && identity.externalId !== own.external_id)
    throw identityRefused("identity_mismatch", "the token is of another person than the device's");
  if (identity === null && modeOf(device) === "required" && own.external_id !== null) throw missing();
  return own;
};

/**
 * The subscription of a device, for ids of its person: with a token of theirs that says nothing else of these, unless the app
 * asks for none at all. Who could give themselves an id without would get what is later sent to it.
 * @throws AppError HS_UNAUTHENTICATED, HS_IDENTITY_TOKEN_INVALID
 */
export const vouchedPerson = (device: Device, aliases: Readonly<Record<string, string>>): SubscriptionRow => {
  const own = reportingPerson(device);
  requireVouched(device, aliases);
  return own;
};

/**
 * The subscription of a device, for an address of its person, by its key: with a token of theirs that grants it, unless the app asks
 * for none at all. @throws AppError HS_UNAUTHENTICATED, HS_IDENTITY_TOKEN_INVALID
 */
export const grantedPerson = (device: Device, key: string): SubscriptionRow => {
  const own = vouchedPerson(device, {});
  if (device.identity?.addresses.has(key) === false)
    throw identityRefused("subscription_not_granted", "the token does not have the address in `subscriptions`");
  return own;
};

/**
 * The subscription of a device, for what cannot be undone: with a token of its person, also where the app asks for none; of an
 * anonymous person its secret is enough. @throws AppError HS_UNAUTHENTICATED, HS_IDENTITY_TOKEN_INVALID
 */
export const certainPerson = (device: Device): SubscriptionRow => {
  const own = ownPerson(device);
  if (device.identity === null && own.external_id !== null) throw missing();
  return own;
};

/** Refuses ids for which nobody vouches. @throws AppError HS_IDENTITY_TOKEN_INVALID */
export const requireVouched = (device: Device, aliases: Readonly<Record<string, string>>): void => {
  const { identity } = device;
  if (identity === null && modeOf(device) !== "off") throw missing();
  const other = Object.entries(aliases).find(([label, id]) => (identity?.aliases.get(label) ?? id) !== id);
  if (other !== undefined)
    throw identityRefused("identity_mismatch", `the token names another id as \`${other[0]}\` of the person`);
};

const modeOf = ({ app }: Device) => settingOf(app, "identity_verification");

const missing = () => identityRefused("missing", "an identity token of the person is required in Authorization");
