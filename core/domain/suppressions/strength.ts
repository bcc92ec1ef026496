import { isDeepStrictEqual } from "node:util";
import {
  type SuppressionReason,
  type SuppressionSource,
  suppressionLimits,
  suppressionReasons,
} from "../../schema/suppressions/suppression.ts";
import { defined } from "../defined.ts";

/** What of an entry may change when the same address is suppressed again. */
export type Suppressed = {
  reason: SuppressionReason;
  source: SuppressionSource;
  note: string | null;
  /** Null: all messages. */
  categories: string[] | null;
  /** Null: never. */
  expires_at: Date | null;
  /** What caused it, when that was a delivery. */
  message_id?: string;
  delivery_id?: string;
  provider_code?: string;
};

/**
 * What of an entry changes because of another one for the same address: it keeps the stronger reason, covers the messages
 * of both and ends with the later. Empty when it says all of that already. Source: docs/reference/suppressions.md#adding-again.
 */
export const raisedBy = (kept: Suppressed, again: Suppressed): Partial<Suppressed> => {
  const categories = allOf(kept.categories, again.categories);
  const end = laterOf(kept.expires_at, again.expires_at);
  return {
    ...(isStronger(again.reason, kept.reason) && {
      reason: again.reason,
      source: again.source,
      note: again.note ?? kept.note,
      ...defined({ message_id: again.message_id, delivery_id: again.delivery_id, provider_code: again.provider_code }),
    }),
    ...(categories?.length !== kept.categories?.length && { categories }),
    ...(end?.getTime() !== kept.expires_at?.getTime() && { expires_at: end }),
  };
};

const isStronger = (a: SuppressionReason, b: SuppressionReason): boolean =>
  suppressionReasons.indexOf(a) < suppressionReasons.indexOf(b);

/** More than an entry may name are all. */
const allOf = (kept: string[] | null, again: string[] | null): string[] | null => {
  if (kept === null || again === null) return null;
  const both = [...new Set([...kept, ...again])];
  return both.length > suppressionLimits.categories ? null : both;
};

const laterOf = (a: Date | null, b: Date | null): Date | null => {
  if (a === null || b === null) return null;
  return a > b ? a : b;
};

/** An entry that may have come, in part or as a whole, from the status of a subscription. */
export type SuppressionEntry = Suppressed & {
  /** What there is beside an opt-out that was said by the status of a subscription; null: nothing. Absent: there is none. */
  beside_status?: Suppressed | null;
};

/** What of an entry changes because of another one, with what is left of it once the status is taken back. */
export const joinedBy = (kept: SuppressionEntry, again: SuppressionEntry): Partial<SuppressionEntry> => {
  const raised = raisedBy(kept, again);
  if (kept.beside_status === undefined && again.beside_status === undefined) return raised;
  const left = besideStatus(kept);
  const besides = besideStatus(again);
  const both = left === null || besides === null ? (left ?? besides) : { ...left, ...raisedBy(left, besides) };
  const isSame = kept.beside_status !== undefined && isDeepStrictEqual(kept.beside_status, both);
  return isSame ? raised : { ...raised, beside_status: both };
};

const besideStatus = (entry: SuppressionEntry): Suppressed | null => {
  if (entry.beside_status !== undefined) return entry.beside_status;
  const { reason, source, note, categories, expires_at, message_id, delivery_id, provider_code } = entry;
  return { reason, source, note, categories, expires_at, ...defined({ message_id, delivery_id, provider_code }) };
};

/** How an API key can lift an entry: just so, by force, or not at all. Source: docs/reference/suppressions.md#removal. */
export const removalOf = (reason: SuppressionReason): "free" | "forced" | "never" => {
  switch (reason) {
    case "manual":
    case "unsubscribe":
    case "soft_bounce":
    case "invalid_address":
      return "free";
    case "hard_bounce":
    case "complaint":
      return "forced";
    case "carrier_opt_out":
    case "legal":
      return "never";
  }
};
