import type { FieldError } from "../../errors.ts";
import type { SettingValues } from "../../schema/apps/settings.ts";
import { timeOfDayMs } from "../messages/time-of-day.ts";
import { isTimeZone } from "../time-zone.ts";
import { settingsOf } from "./settings.ts";

/** What is wrong with settings that a schema cannot say: asked of REST and of resources alike. */
export const settingProblems = (given: SettingValues): FieldError[] => rules.flatMap((rule) => rule(given));

type Rule = (given: SettingValues) => FieldError[];

const zone: Rule = ({ time_zone: name }) =>
  typeof name === "string" && !isTimeZone(name)
    ? [{ field: "time_zone", message: `${name} is not an IANA time zone` }]
    : [];

const quietHours: Rule = (given) => {
  const { start, end, timezone } = settingsOf(given).quiet_hours;
  const isEmpty = timeOfDayMs(start) === timeOfDayMs(end);
  return [
    ...(isEmpty ? [{ field: "quiet_hours.end", message: "must not be the time at which they start" }] : []),
    ...(timezone !== "user" && !isTimeZone(timezone)
      ? [{ field: "quiet_hours.timezone", message: `${timezone} is not an IANA time zone` }]
      : []),
  ];
};

/** One for each setting that needs it. */
const rules: readonly Rule[] = [zone, quietHours];
