import { activityIdAttribute } from "#core/channels/ios-push/live-activity.ts";
import { liveActivitySize } from "#core/channels/live-activity-size.ts";
import { defined } from "#core/domain/defined.ts";
import { instantOf } from "#core/domain/iso-instant.ts";
import { channelsOfPlatforms } from "#core/domain/live-activities/platforms.ts";
import { nonconforming } from "#core/domain/live-activities/values.ts";
import { saidIn } from "#core/domain/messages/neutral.ts";
import { type FieldError, invalid, refuse } from "#core/errors.ts";
import {
  type ActivityValues,
  type LiveActivitySend,
  lastInstant,
  type StartLiveActivity,
} from "#core/schema/live-activities/requests.ts";
import type { ActivitySchema } from "#core/schema/live-activities/type.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import type { MessageActivity } from "#core/storage/messages/message-row.ts";
import { idSelectors } from "../audience/audience.ts";

/** The alert as the content of a message, so that its texts are chosen as those of any other; one that shows nothing is empty. */
export const alertContent = ({ alert }: LiveActivitySend): Content =>
  saidIn(defined({ headings: alert?.title, contents: alert?.body, ios_sound: alert?.sound }));

/**
 * The content of a start. On iOS it has words: all of Apple's examples have an alert, and one without a text is silent, with
 * a behaviour that is not defined. Without a title and a body the title is the app's name.
 * Source: https://developer.apple.com/forums/thread/799195, and docs/live-activities.md#what-apple-does.
 */
export const startContent = (body: StartLiveActivity, channels: readonly Channel[], { name }: Pick<AppRow, "name">) => {
  const content = alertContent(body);
  const texts = [content.headings, content.contents].flatMap((by) => Object.values(by ?? {}));
  const hasWords = texts.some((text) => text !== "");
  return hasWords || !channels.includes("ios_push") ? content : { ...content, headings: { en: name } };
};

/** What Apple is told beside the state; instants in seconds since 1970. */
export const plainMembers = ({ stale_date, dismissal_date, relevance_score }: LiveActivitySend) =>
  defined({ stale_date: secondsOf(stale_date), dismissal_date: secondsOf(dismissal_date), relevance_score });

const secondsOf = (instant: LiveActivitySend["stale_date"]): number | undefined =>
  typeof instant === "string" ? Math.floor(instantOf(instant).getTime() / 1_000) : instant;

const instantErrors = (body: LiveActivitySend): FieldError[] =>
  (["stale_date", "dismissal_date"] as const).flatMap((field) => {
    const seconds = secondsOf(body[field]) ?? 0;
    return seconds >= 0 && seconds <= lastInstant ? [] : [{ field, message: "must be between 1970 and 2100" }];
  });

/** Refuses what a schema cannot say of an update or an end, such as a state that the type's does not admit. @throws ValidationError */
export const checkChange = (
  type: LiveActivityTypeRow,
  { content_state: state, ...body }: LiveActivitySend & { content_state?: ActivityValues },
): void =>
  refuse([
    ...(state === undefined ? [] : nonconforming(schemaOf(type.content_state_schema), state, "content_state")),
    ...instantErrors(body),
  ]);

/** Refuses what a schema cannot say of a start. @throws ValidationError */
export const checkStart = (type: LiveActivityTypeRow, { attributes = {}, content_state, ...body }: StartLiveActivity) =>
  refuse([
    ...nonconforming(schemaOf(type.content_state_schema), content_state, "content_state"),
    ...nonconforming(schemaOf(type.attributes_schema), attributes, "attributes"),
    ...reserved(attributes),
    ...instantErrors(body),
    ...targetErrors(body.target),
    ...broadcastErrors(type, body),
  ]);

const schemaOf = (stored: LiveActivityTypeRow["attributes_schema"]): ActivitySchema => stored as ActivitySchema; // sound: only what passed its schema is stored

const reserved = (attributes: ActivityValues): FieldError[] =>
  activityIdAttribute in attributes
    ? [{ field: `attributes.${activityIdAttribute}`, message: "is set by this service" }]
    : [];

const targetErrors = (target: StartLiveActivity["target"]): FieldError[] => {
  const isOfSegments = (target.included_segments ?? []).length > 0;
  const isSelecting =
    target.all === true || isOfSegments || idSelectors.some((selector) => target[selector] !== undefined);
  return isSelecting ? [] : [{ field: "target", message: "must name whom to start it for" }];
};

const broadcastErrors = (
  { platforms }: LiveActivityTypeRow,
  { channel }: Pick<StartLiveActivity, "channel">,
): FieldError[] =>
  channel === true && !channelsOfPlatforms(platforms).includes("ios_push")
    ? [{ field: "channel", message: "is only for types with the platform ios" }]
    : [];

/** Refuses what would be larger than a provider takes, in any of its languages. @throws ValidationError with the bytes */
export const checkSize = (live: MessageActivity, { content, channels, at }: Sized): void => {
  for (const channel of channels) {
    const { bytes, maxBytes } = liveActivitySize(channel, { ...live, at }, content);
    if (bytes <= maxBytes) continue;
    const message = `with it the payload for ${channel} has ${bytes} bytes; at most ${maxBytes} can be sent`;
    throw invalid("content_state", message, { channel, limit_bytes: maxBytes, actual_bytes: bytes });
  }
};

type Sized = { content: Content; channels: readonly Channel[]; at: Date };
