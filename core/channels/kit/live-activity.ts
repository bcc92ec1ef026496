import type { ActivityValues, LiveActivityEvent } from "../../schema/live-activities/send.ts";

/** What a push does to a live activity; the texts of its alert are the message's content. */
export type LiveActivityPush = {
  event: LiveActivityEvent;
  /** As callers name the activity: the device learns it with the start. */
  activity_id: string;
  /** The name of the Swift struct. */
  type_name: string;
  /** Of a start. */
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
