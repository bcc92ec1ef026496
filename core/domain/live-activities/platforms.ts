import { type ActivityPlatform, activityPlatforms } from "../../schema/live-activities/type.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";

/** Whose devices a start reaches when the type does not say so. Source: docs/reference/live-activities.md#platforms. */
export const defaultPlatforms: ActivityPlatform[] = ["ios"];

const channelOf = { ios: "ios_push", android: "android_push" } as const satisfies Record<ActivityPlatform, Channel>;

/** The channels that an activity was started over. */
export const startedOver = ({ channels = ["ios_push"] }: { channels?: Channel[] }): Channel[] => channels;

/** The channels that activities of these platforms are started over, in one order whatever theirs is. */
export const channelsOfPlatforms = (platforms: readonly ActivityPlatform[] = defaultPlatforms): Channel[] =>
  activityPlatforms.filter((platform) => platforms.includes(platform)).map((platform) => channelOf[platform]);
