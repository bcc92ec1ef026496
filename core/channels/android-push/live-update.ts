import { defined } from "../../domain/defined.ts";
import { alertOf, type LiveActivityPush } from "../kit/live-activity.ts";
import type { Rendering } from "../kit/rendering.ts";

/**
 * What starts, updates or ends a live activity on Android: a data message, which FCM hands to the app. Each is whole,
 * attributes and all, because FCM keeps no order and may drop what it stores for a device that is off.
 * Source: docs/reference/live-activities.md#android; Firebase, REST resource projects.messages.
 */
export const liveUpdate = (
  live: LiveActivityPush,
  { content, language, ttlSeconds }: Pick<Rendering, "content" | "language" | "ttlSeconds">,
): { message: object; data: { live_update: string } } => {
  const isUrgent = live.priority === 10;
  const update = defined({
    event: live.event,
    activity_id: live.activity_id,
    activity_type: live.type_name,
    attributes: live.attributes ?? {},
    content_state: live.content_state,
    timestamp: live.at.getTime(),
    stale_at: msOf(live.stale_date),
    dismiss_at: live.event === "end" ? msOf(live.dismissal_date) : undefined,
    alert: alertOf(content, language),
  });
  const android = {
    // FCM holds collapsible ones back: 20 at once, then one in 3 minutes. Source: "FCM throttling and quotas".
    collapse_key: isUrgent ? undefined : live.activity_id,
    priority: isUrgent ? "HIGH" : "NORMAL",
    ttl: `${ttlSeconds}s`,
  };
  return { message: { android }, data: { live_update: JSON.stringify(update) } };
};

/** Android's instants are in milliseconds, and two updates of one second have an order. */
const msOf = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1000);
