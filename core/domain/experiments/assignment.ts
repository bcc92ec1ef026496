import type { AppSettings } from "../../schema/apps/settings.ts";
import { partOf, parts, placeOf } from "./shares.ts";

/** What of a variant decides who gets it. */
type Weighted = { weight_percent: number };

/** The variant of a message that a person gets, whatever their address and however often it is asked. */
export const variantOf = <V extends Weighted>(messageId: string, variants: readonly V[], person: string): V | null => {
  const weights = variants.map(({ weight_percent: weight }) => weight);
  return variants[placeOf(weights, partOf(messageId, person))] ?? null;
};

/** Whether a person is of those who try the variants before one is chosen. */
export const isInTest = (messageId: string, testPercent: number, person: string): boolean =>
  partOf(`${messageId}/test`, person) < (testPercent / 100) * parts;

/** Whether a person is sent to in the hour of all, where others are in their own. */
export const isInControl = (messageId: string, percent: number, person: string): boolean =>
  partOf(`${messageId}/optimized`, person) < (percent / 100) * parts;

export type Holdout = AppSettings["holdout"];

/** What of a message decides whether an app's holdout is left out of it. */
export type HeldOutOf = { appId: string; category: string | null; at: Date };

/** Whether a holdout is in force for a message. */
export const isHoldoutOn = (
  { percent, starts_at: startsAt, ends_at: endsAt, exempt_categories: exempt }: Holdout,
  { category, at }: HeldOutOf,
): boolean => {
  if (percent === 0 || startsAt === null || endsAt === null) return false;
  const isExempt = category !== null && exempt.includes(category);
  return !isExempt && at >= new Date(startsAt) && at < new Date(endsAt);
};

/** Whether a person is of those whom an app sends nothing: the same for all of its messages. */
export const isInHoldout = ({ percent, salt }: Holdout, { appId }: Pick<HeldOutOf, "appId">, person: string): boolean =>
  partOf(`holdout/${appId}/${salt}`, person) < (percent / 100) * parts;
