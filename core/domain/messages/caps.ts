import type { FrequencyCap } from "../../schema/apps/frequency-cap.ts";
import type { AppSettings } from "../../schema/apps/settings.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { dayMs, hourMs, minuteMs } from "../durations.ts";
import { instantAt, offsetAt, zoneSpans } from "../zone-spans.ts";

/** What of a message decides which caps it falls under. */
export type CappedMessage = {
  category: string | null;
  channel: Channel;
  /** A change of a live activity, or a test. */
  isNeverCapped: boolean;
};

/** The caps that a message is counted by and may be held back by; none for what is exempt by its category. */
export const capsOn = (
  { frequency_caps: caps, exempt_categories: exempt }: Pick<AppSettings, "frequency_caps" | "exempt_categories">,
  { category, channel, isNeverCapped }: CappedMessage,
): FrequencyCap[] => {
  if (isNeverCapped || (category !== null && exempt.includes(category))) return [];
  return caps.filter(
    ({ channels, categories }) =>
      (channels === null || channels.includes(channel)) &&
      (categories === null || (category !== null && categories.includes(category))),
  );
};

/** Since when messages count for a cap, at an instant and on the clock of a zone; one that there is not is UTC. */
export const countedSince = ({ window, per }: Pick<FrequencyCap, "window" | "per">, zone: string, now: Date): Date => {
  const nowMs = now.getTime();
  if (window === "rolling") return new Date(nowMs - periodMs[per]);
  const spans = zoneSpans(zone, now) ?? utc;
  const wall = nowMs + offsetAt(spans, nowMs);
  const start = wallStart(per, wall);
  // Clocks that were put back show an hour twice: the one that counts is the one that contains the instant.
  if (per === "hour" || per === "minute") return new Date(nowMs - (wall - start));
  return new Date(instantAt(spans, start) ?? nowMs - (wall - start));
};

/** For no longer than this anything counts for one of the caps. */
export const longestMs = (caps: readonly Pick<FrequencyCap, "per">[]): number =>
  Math.max(0, ...caps.map(({ per }) => periodMs[per])) + 2 * dayMs; // months of 31 days, clocks that are put back

/** As a delivery says which cap held it back. */
export const capInWords = ({ name, max, per }: Pick<FrequencyCap, "name" | "max" | "per">): string =>
  `the cap ${name} allows ${max} a ${per}`;

const periodMs: Record<FrequencyCap["per"], number> = {
  minute: minuteMs,
  hour: hourMs,
  day: dayMs,
  week: 7 * dayMs,
  month: 30 * dayMs,
};

const utc = [{ from: -Infinity, until: Infinity, offset: 0 }];

/** When the present period began, as clocks show it. */
const wallStart = (per: FrequencyCap["per"], wallMs: number): number => {
  const day = Math.floor(wallMs / dayMs) * dayMs;
  if (per === "week") return day - ((new Date(day).getUTCDay() + 6) % 7) * dayMs;
  if (per === "month") return day - (new Date(day).getUTCDate() - 1) * dayMs;
  return Math.floor(wallMs / periodMs[per]) * periodMs[per];
};
