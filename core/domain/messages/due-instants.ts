import type { SettingValues } from "../../schema/apps/settings.ts";
import type { Options } from "../../schema/messages/notification.ts";
import { settingsOf } from "../apps/settings.ts";
import { type DueIn, localTimes } from "./local-time.ts";
import { timeOfDayMs } from "./time-of-day.ts";

/** When the recipients of a message that is sent by local time are due, by their zones; `from`: not before that. */
export const dueInstants = (
  { options, scheduled_for, created_at }: { options: Options; scheduled_for: Date | null; created_at: Date },
  app: Pick<SettingValues, "time_zone" | "local_time_missed">,
  from?: Date,
): DueIn => {
  const { time_zone: appZone, local_time_missed: missed } = settingsOf(app);
  const { delivery_time_of_day: time } = options;
  const timeMs = time === undefined ? null : timeOfDayMs(time);
  return localTimes({ start: scheduled_for ?? created_at, timeMs, appZone, missed, from });
};
