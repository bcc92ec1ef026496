import type { SuppressionReason } from "../../schema/suppressions/suppression.ts";
import { dayMs } from "../durations.ts";

/** What a new entry for all messages makes of the subscriptions with its address. Source: docs/reference/suppressions.md#effects. */
export const statusBy = (reason: SuppressionReason): "invalid" | "unsubscribed" | null => {
  switch (reason) {
    case "hard_bounce":
    case "invalid_address":
      return "invalid";
    case "unsubscribe":
    case "carrier_opt_out":
    case "complaint":
      return "unsubscribed";
    case "legal":
    case "manual":
    case "soft_bounce":
      return null;
  }
};

const soft = { bounces: 5, withinMs: 14 * dayMs, lastsMs: 30 * dayMs };

/** When the suppression of an address that bounced for now at these instants ends; null as long as it is none. */
export const softBounceEnd = (bounces: readonly Date[], now: Date): Date | null => {
  const recent = bounces.filter((at) => now.getTime() - at.getTime() <= soft.withinMs);
  return recent.length >= soft.bounces ? new Date(now.getTime() + soft.lastsMs) : null;
};

const unreachableDays = 3;

/** Whether an address that a provider could not reach at these instants is given up: on three days, UTC. */
export const isGivenUp = (failures: readonly Date[]): boolean =>
  new Set(failures.map((at) => at.toISOString().slice(0, 10))).size >= unreachableDays;

/** What of an entry decides whether it holds a message back. */
export type Entry = { reason: SuppressionReason; categories: readonly string[] | null };

/** What of a message decides whether an entry holds it back. */
export type MessageTraits = {
  category: string | null;
  /** Whether it is to reach those who unsubscribed from its channel: mail that has to arrive. */
  reachesUnsubscribed: boolean;
};

/** Whether an entry holds a message back. Source: docs/reference/suppressions.md#effects. */
export const isMet = ({ reason, categories }: Entry, { category, reachesUnsubscribed }: MessageTraits): boolean => {
  if (reason === "unsubscribe" && reachesUnsubscribed) return false;
  return categories === null || (category !== null && categories.includes(category));
};
