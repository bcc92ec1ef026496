import type { AppSettings } from "../../schema/apps/settings.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { dayMs, minuteMs } from "../durations.ts";

/** A delivery that reached a person, or that they clicked on. */
export type Touch = {
  delivery_id: string;
  message_id: string;
  subscription_id: string;
  user_id: string;
  channel: Channel;
  campaign_id?: string | undefined;
  sent_at: Date | null;
  /** The first click. */
  clicked_at: Date | null;
};

/** What led to an event; `to` is the delivery that it counts for. */
export type Attribution =
  | { kind: "direct"; to: Touch }
  /** `among`: the latest deliveries, that one first. */
  | { kind: "influenced"; to: Touch; among: readonly Touch[] }
  | { kind: "unattributed"; to: null };

/** How long after a click or a delivery an event may count for it, whatever the app says. */
export const longestWindowMs = dayMs;

/** How long after a click, or a delivery, an event counts for it, and how many deliveries it names, as the app says. */
export type Outcomes = AppSettings["outcomes"];

/**
 * What led to an event of a person: the click of the time before it that the app says (the latest), else the deliveries of
 * such a time, the latest first. Source: docs/reference/events.md#conversions.
 */
export const attribute = (at: Date, touches: readonly Touch[], outcomes: Outcomes): Attribution => {
  const [clicked] = within(at, touches, "clicked_at", outcomes.direct_minutes);
  if (clicked !== undefined) return { kind: "direct", to: clicked };
  const among = within(at, touches, "sent_at", outcomes.influenced_minutes).slice(0, outcomes.influenced_limit);
  const [latest] = among;
  return latest === undefined ? { kind: "unattributed", to: null } : { kind: "influenced", to: latest, among };
};

/** Those whose instant lies in the window before an event, the latest first. */
const within = (
  at: Date,
  touches: readonly Touch[],
  member: "sent_at" | "clicked_at",
  windowMinutes: number,
): Touch[] => {
  const ageOf = (touch: Touch): number => {
    const instant = touch[member];
    return instant === null ? Number.POSITIVE_INFINITY : at.getTime() - instant.getTime();
  };
  const inTime = touches.filter((touch) => ageOf(touch) >= 0 && ageOf(touch) <= windowMinutes * minuteMs);
  return inTime.sort((a, b) => ageOf(a) - ageOf(b) || (a.delivery_id < b.delivery_id ? -1 : 1));
};
