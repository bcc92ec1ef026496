import { showAs } from "#core/schema/json/show.ts";
import { LiveActivity } from "#core/schema/live-activities/activity.ts";
import type { LiveActivityRow } from "#core/storage/live-activities/activities.ts";
import { type RecipientState, recipientStates } from "#core/storage/live-activities/recipient-row.ts";
import type { DeviceStates } from "#core/storage/live-activities/recipients.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";

/** What an activity is shown from: its document, its latest messages (the newest first) and its devices by state. */
export type Shown = {
  activity: LiveActivityRow;
  sent: readonly MessageRow[];
  recipients: DeviceStates;
};

/** An activity as the REST interface shows it. */
export const activityView = ({ activity, sent, recipients }: Shown, typeName: string): LiveActivity => {
  const history = sent.flatMap(({ _id, status, created_at, live_activity: live }) =>
    live === undefined
      ? []
      : [
          {
            message_id: _id,
            event: live.event,
            status,
            content_state: live.content_state,
            priority: live.priority,
            is_superseded: live.is_superseded === true,
            created_at: created_at.toISOString(),
          },
        ],
  );
  const valid = history.filter(({ status }) => status !== "cancelled");
  return showAs(LiveActivity, {
    ...activity,
    activity_type: typeName,
    content_state: valid[0]?.content_state,
    recipients: {
      ...(Object.fromEntries(recipientStates.map((state) => [state, 0])) as Record<RecipientState, number>), // each state
      ...recipients,
    },
    last_update_at: valid.find(({ event }) => event === "update")?.created_at,
    started_at: activity.created_at,
    ended_at: activity.ended_at,
    history,
  });
};
