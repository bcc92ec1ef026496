import { type Static, Type } from "typebox";
import { DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { messageStatuses } from "../messages/message.ts";
import { ActivityValues, liveActivityEvents } from "./requests.ts";

const { Array: List, Enum, Integer, String: Text } = Type;

const Count = (description: string) => Integer({ minimum: 0, description });

/** A live activity as the REST interface shows it. Source: docs/reference/live-activities.md#activities. */
export const LiveActivity = Type.Object({
  activity_id: Text(),
  activity_type: Text({ description: "the type's name" }),
  status: Enum(["running", "ended"]),
  attributes: ActivityValues,
  content_state: Nullable(ActivityValues),
  recipients: Type.Object({
    starting: Count("devices that were sent the start and have reported no token"),
    active: Count("devices that updates go to"),
    ended: Count("devices that were sent the end"),
    lost: Count("devices whose token the provider says is gone"),
    failed: Count("devices that the start could not be sent to"),
  }),
  last_update_at: Nullable(DateTime),
  started_at: DateTime,
  ends_at: Type.String({ format: "date-time", description: "then it ends by itself, unless it is started anew" }),
  ended_at: Nullable(DateTime),
  history: List(
    Type.Object({
      message_id: Text(),
      event: Enum([...liveActivityEvents]),
      status: Enum([...messageStatuses]),
      content_state: ActivityValues,
      priority: Enum([5, 10]),
      is_superseded: Type.Boolean({ description: "a newer change had begun before it was sent to anybody" }),
      created_at: DateTime,
    }),
    { description: "what was sent of it, the latest first; at most 50" },
  ),
});
export type LiveActivity = Static<typeof LiveActivity>;

/** Reply of `GET …/types/{activityType}/swift`. */
export const LiveActivitySwift = Type.Object({
  file_name: Text(),
  source: Text({ description: "a struct that conforms to ActivityAttributes" }),
});
export type LiveActivitySwift = Static<typeof LiveActivitySwift>;

/** Query of `DELETE …/types/{activityType}`. */
export const DeleteLiveActivityTypeQuery = Type.Object({
  force: Type.Optional(Type.Boolean({ description: "also while activities of it run: they end" })),
});

named({ LiveActivity, LiveActivitySwift });
