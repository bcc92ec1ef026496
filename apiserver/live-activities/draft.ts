import { activityIdAttribute, renderLiveActivity } from "#core/channels/ios-push/live-activity.ts";
import { apnsBody, maxApnsBytes } from "#core/channels/ios-push/render.ts";
import { defined } from "#core/domain/defined.ts";
import { nonconforming } from "#core/domain/live-activities/values.ts";
import { languagesOf } from "#core/domain/messages/languages.ts";
import { type FieldError, invalid, refuse } from "#core/errors.ts";
import type { ActivityValues, LiveActivitySend, StartLiveActivity } from "#core/schema/live-activities/send.ts";
import type { ActivitySchema } from "#core/schema/live-activities/type.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import type { MessageActivity } from "#core/storage/messages/message-row.ts";
import { selectors } from "../accepting/audience.ts";

/** The alert as the content of a message, so that its texts are chosen as those of any other. */
export const alertContent = ({ alert }: LiveActivitySend): Content =>
  defined({ headings: alert?.title, contents: alert?.body, ios_sound: alert?.sound });

/** What Apple is told beside the state. */
export const plainMembers = ({ stale_date, dismissal_date, relevance_score }: LiveActivitySend) =>
  defined({ stale_date, dismissal_date, relevance_score });

/** Refuses a state that the type's schema does not admit. @throws ValidationError */
export const checkState = (type: LiveActivityTypeRow, state: ActivityValues): void =>
  refuse(nonconforming(schemaOf(type.content_state_schema), state, "content_state"));

/** Refuses what a schema cannot say of a start. @throws ValidationError */
export const checkStart = (type: LiveActivityTypeRow, { attributes = {}, content_state, target }: StartLiveActivity) =>
  refuse([
    ...nonconforming(schemaOf(type.content_state_schema), content_state, "content_state"),
    ...nonconforming(schemaOf(type.attributes_schema), attributes, "attributes"),
    ...reserved(attributes),
    ...targetErrors(target),
  ]);

const schemaOf = (stored: LiveActivityTypeRow["attributes_schema"]): ActivitySchema => stored as ActivitySchema; // sound: only what passed its schema is stored

const reserved = (attributes: ActivityValues): FieldError[] =>
  activityIdAttribute in attributes
    ? [{ field: `attributes.${activityIdAttribute}`, message: "is set by this service" }]
    : [];

const targetErrors = (target: StartLiveActivity["target"]): FieldError[] => {
  const isSelecting = target.all === true || selectors.some((selector) => target[selector] !== undefined);
  if (target.included_segments !== undefined)
    return [{ field: "target.included_segments", message: "is not supported by this release" }];
  return isSelecting ? [] : [{ field: "target", message: "must name whom to start it for" }];
};

/** Refuses what would be larger than Apple takes, in any of its languages. @throws ValidationError with the bytes */
export const checkSize = (live: MessageActivity, content: Content, at: Date): void => {
  for (const language of languagesOf(content)) {
    const push = renderLiveActivity({ ...live, at }, { content, language, ttlSeconds: 0 });
    const bytes = Buffer.byteLength(apnsBody(push, ""));
    if (bytes <= maxApnsBytes) continue;
    const message = `with it the payload has ${bytes} bytes; Apple takes at most ${maxApnsBytes}`;
    throw invalid("content_state", message, { limit_bytes: maxApnsBytes, actual_bytes: bytes });
  }
};
