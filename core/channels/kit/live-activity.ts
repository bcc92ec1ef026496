import { defined } from "../../domain/defined.ts";
import { localised } from "../../domain/messages/languages.ts";
import type { ActivityValues, LiveActivityEvent } from "../../schema/live-activities/requests.ts";
import type { Content } from "../../schema/messages/notification.ts";

/** What a push does to a live activity; the texts of its alert are the message's content. */
export type LiveActivityPush = {
  event: LiveActivityEvent;
  /** As callers name the activity: the device learns it with the start. */
  activity_id: string;
  /** The name of the type: on iOS that of the Swift struct. */
  type_name: string;
  /** Of a start; on Android of every push. */
  attributes?: ActivityValues;
  content_state: ActivityValues;
  stale_date?: number;
  dismissal_date?: number;
  relevance_score?: number;
  priority: 5 | 10;
  channel?: { apns_channel_id: string; stores_latest: boolean };
  /** When it was accepted: a device ignores what is older than what it has. */
  at: Date;
};

/** The texts that light a device's screen up, in its language; undefined without any. */
export const alertOf = (content: Content, language: string | null): Record<string, string> | undefined => {
  const alert = defined({
    title: localised(content.headings, language) || undefined,
    body: localised(content.contents, language) || undefined,
    sound: content.ios_sound || undefined,
  });
  return Object.keys(alert).length === 0 ? undefined : alert;
};
