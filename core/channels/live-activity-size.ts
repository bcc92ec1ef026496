import { languagesOf } from "../domain/messages/languages.ts";
import type { Content } from "../schema/messages/notification.ts";
import type { Channel } from "../schema/vocabulary/channels.ts";
import { definitionOf } from "./all.ts";
import type { LiveActivityPush } from "./kit/live-activity.ts";
import { anId } from "./kit/rendering.ts";

/**
 * The bytes of a live activity's push over a channel, in the language in which it is largest, and how many the provider
 * takes. Source: docs/reference/channels.md#payload-limits.
 */
export const liveActivitySize = (
  channel: Channel,
  live: LiveActivityPush,
  content: Content,
): { bytes: number; maxBytes: number } => {
  const { limit } = definitionOf(channel);
  if (limit === null) return { bytes: 0, maxBytes: Number.POSITIVE_INFINITY };
  const sizes = languagesOf(content).map((language) =>
    Buffer.byteLength(limit.body({ messageId: anId, content, options: {}, language, ttlSeconds: longestTtl, live })),
  );
  return { bytes: Math.max(...sizes), maxBytes: limit.maxBytes };
};

const longestTtl = 28_800; // seconds: 8 hours, of an update
