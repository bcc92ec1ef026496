import type { Message } from "../../schema/messages/message.ts";
import type { TimelineEntry } from "../../schema/messages/timeline.ts";
import { fallbackOf } from "./fallback.ts";

export type TimedMessage = Pick<Message, "status" | "requested_by" | "error"> & {
  created_at: Date;
  started_at: Date | null;
  completed_at: Date | null;
  cancelled_by?: Cancelled;
  options?: Parameters<typeof fallbackOf>[0];
  /** When it first went over the channel of each step of `fallback`. */
  fell_back?: Record<string, Date>;
};

/** Who cancelled a notification, and whether what of it was being sent was stopped. */
export type Cancelled = Message["requested_by"] & { by_force?: true };

const system = { type: "system" as const };

/** Every change of a notification's state, the oldest first. Source: docs/reference/notification-operations.md#timeline. */
export const timelineOf = (message: TimedMessage): TimelineEntry[] => {
  const { created_at: acceptedAt, started_at: startedAt, completed_at: endedAt } = message;
  const entries = [
    { at: acceptedAt, state: "queued" as const, cause: "accepted", actor: message.requested_by },
    { at: startedAt, state: "processing" as const, cause: "begun", actor: system },
    ...fallbacksOf(message),
    { at: endedAt, state: message.status, ...endOf(message) },
  ];
  return entries.flatMap(({ at, ...entry }) => (at === null ? [] : [{ at: at.toISOString(), ...entry }]));
};

const fallbacksOf = ({ options = {}, fell_back: at = {} }: TimedMessage) =>
  fallbackOf(options).map(({ channel }, i) => ({
    at: at[String(i)] ?? null,
    state: "processing" as const,
    cause: `fallback_${channel}`,
    actor: system,
  }));

const endOf = ({ status, error, cancelled_by: by }: TimedMessage): Pick<TimelineEntry, "cause" | "actor"> => {
  if (status === "failed") return { cause: error ?? "failed", actor: system };
  if (status !== "cancelled") return { cause: "sent", actor: system };
  const { by_force: isForced, ...actor }: Cancelled = by ?? system;
  return { cause: isForced === true ? "cancelled_by_force" : "cancelled", actor };
};
