import type { DeliveryStatus } from "../messages/progress.ts";
import { isSessionOpen } from "../people/session.ts";

/** What says whether somebody may be written to. */
export type Reachable = {
  channel: string;
  status: "subscribed" | "unsubscribed" | "invalid";
  session_expires_at?: Date | null;
};

/** What may be sent to the person of a conversation now; `isConfigured`: the app has an account of its channel. */
export const canReply = (
  person: Reachable | null,
  { isConfigured, now }: { isConfigured: boolean; now: Date },
): "free_form" | "template_only" | "none" => {
  if (person === null || person.status !== "subscribed" || !isConfigured) return "none";
  if (person.channel !== "whatsapp" || isSessionOpen(person.session_expires_at, now)) return "free_form";
  return "template_only";
};

/** Whether a reply whose delivery is so does not arrive. */
export const isFailedReply = (status: DeliveryStatus): boolean => failures.includes(status);

const failures: readonly DeliveryStatus[] = ["failed", "errored", "bounced", "suppressed", "expired", "cancelled"];

/** Why a reply failed that was put into its conversation, and that nobody came to accept. */
export const notAccepted = {
  code: "NOT_ACCEPTED",
  message: "its request was cut off, and not repeated",
  provider_code: null,
} as const;
