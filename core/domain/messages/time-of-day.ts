import { patterns } from "../../schema/json/patterns.ts";

/** The milliseconds since midnight that a time of day is in any of its spellings; null when it is none. */
export const timeOfDayMs = (text: string): number | null => {
  const [, hours, minutes, seconds = "0", half] = (pattern.test(text) && clock.exec(text)) || [];
  if (hours === undefined || minutes === undefined) return null;
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  return ((hour * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
};

const clock = /^(\d{1,2}):(\d{2})(?::(\d{2}))?(?: ?([AaPp])[Mm])?$/;
const pattern = new RegExp(patterns.timeOfDay);
