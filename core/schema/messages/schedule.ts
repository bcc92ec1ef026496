import { type Static, Type } from "typebox";
import { DateTime, Nullable } from "../json/common.ts";

const { Array: List, Integer, Object: Members, String: Text } = Type;
const Count = Integer({ minimum: 0 });

/** When recipients of a message would be sent to. Source: docs/reference/notification-operations.md#schedules. */
export const ScheduleShown = Members({
  schedule: Nullable(
    List(
      Members({
        at: DateTime,
        recipients: Integer({ minimum: 1, description: "who are sent to from then on" }),
        zones: List(Text(), { maxItems: 50, description: "of the recipients, as far as they are known" }),
      }),
      { maxItems: 200, description: "in order; null where too many recipients would have to be looked at" },
    ),
  ),
  zone_unknown: Nullable(
    Integer({ minimum: 0, description: "recipients who are counted by the app's zone, as theirs is not known" }),
  ),
  local_time_missed: Nullable(
    Integer({ minimum: 0, description: "recipients for whom the time has passed, and who get nothing" }),
  ),
  quiet_hours: Nullable(
    Members(
      { moved: Count, dropped: Count },
      { description: "recipients who are sent to at the end of quiet hours, and who get nothing because of these" },
    ),
  ),
});
export type ScheduleShown = Static<typeof ScheduleShown>;
