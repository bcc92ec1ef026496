import { defined } from "../../domain/defined.ts";
import { alertOf, type LiveActivityPush } from "../kit/live-activity.ts";
import type { Rendering } from "../kit/rendering.ts";
import type { ApnsPush } from "./push.ts";

/** The attribute by which a device knows which activity it was started for. Source: docs/live-activities.md. */
export const activityIdAttribute = "herald_activity_id";

/** Seconds that APNs keeps one for a device that is off: by then the activity is over. */
export const activityTtlSeconds = { start: 4 * 3600, update: 8 * 3600, end: 8 * 3600 } as const;

/**
 * Renders what starts, updates or ends a live activity.
 * Source: Apple, "Starting and updating Live Activities with ActivityKit push notifications".
 */
export const renderLiveActivity = (
  live: LiveActivityPush,
  { content, language, ttlSeconds }: Pick<Rendering, "content" | "language" | "ttlSeconds">,
): ApnsPush => {
  const aps = defined({
    timestamp: Math.floor(live.at.getTime() / 1000),
    event: live.event,
    "content-state": live.content_state,
    ...(live.event === "start" && startOf(live)),
    alert: alertOf(content, language),
    "stale-date": live.stale_date,
    "dismissal-date": live.event === "end" ? live.dismissal_date : undefined,
    "relevance-score": live.relevance_score,
  });
  const isBroadcast = live.channel !== undefined && live.event !== "start";
  return {
    json: { badge: "", before: JSON.stringify({ aps }), after: null },
    pushType: "liveactivity",
    priority: live.priority,
    ttlSeconds: isBroadcast && live.channel?.stores_latest !== true ? 0 : ttlSeconds, // Apple: 0 where nothing is kept
    isBroadcast,
    collapseId: null, // Apple: not for this push type
  };
};

/** iOS 18 gives a token for updates with the start; earlier ones leave `input-push-token` out of account. */
const startOf = ({ type_name, attributes, activity_id, channel }: LiveActivityPush) => ({
  "attributes-type": type_name,
  attributes: { ...attributes, [activityIdAttribute]: activity_id },
  ...(channel === undefined ? { "input-push-token": 1 } : { "input-push-channel": channel.apns_channel_id }),
});
