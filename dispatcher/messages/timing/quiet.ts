import { settingsOf } from "#core/domain/apps/settings.ts";
import { type KnownClock, quietUntil } from "#core/domain/messages/quiet-hours.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { ZonesOf } from "#core/storage/people/zones.ts";
import type { ReadPeople } from "../../templates/open.ts";
import type { Work } from "../delivery/work.ts";

/** Until when a recipient is to have quiet, asked right before they are sent to; null when they need not. */
export type Quiet = { untilOf: (recipient: Reached, now: Date) => Date | null; isDropped: boolean };

/**
 * The quiet hours for the recipients of a run; null where there are none: the app has none for the channel, or the message
 * or its category is exempt, is a change of a live activity or a delivery that is sent again.
 */
export const quietHours =
  (zonesOf: ZonesOf) =>
  async ({ app, message, chunk }: Work, recipients: readonly Reached[], people?: ReadPeople): Promise<Quiet | null> => {
    if (app.quiet_hours?.enabled !== true) return null;
    const { quiet_hours: hours, exempt_categories: exempt, time_zone: appZone } = settingsOf(app);
    const { options, category, live_activity: activity } = message;
    const isExempt =
      message.source === "test" ||
      options.quiet_hours_exempt === true ||
      (category !== null && exempt.includes(category));
    if (isExempt || activity !== undefined || chunk.resend_until !== undefined) return null;
    if (hours.channels !== null && !hours.channels.includes(chunk.channel)) return null;
    const clocks = await zonesOf(recipients, people);
    const unknown = { zone: null, country: null, quietHours: undefined };
    const [first, spreadMs] = [new Map<string, Date>(), spreadOf(chunk._id)];
    const endOf = oncePerSecond((clock, now) => quietUntil(hours, { clock, appZone, now }));
    const untilOf = ({ _id }: Reached, now: Date): Date | null => {
      const end = endOf(clocks.get(_id) ?? unknown, now);
      if (end === null) return null;
      const key = String(end.getTime());
      const at = first.get(key) ?? new Date(end.getTime() + spreadMs);
      first.set(key, at);
      return at;
    };
    return { untilOf, isDropped: hours.mode === "drop" };
  };

type EndOf = (clock: KnownClock, now: Date) => Date | null;

/**
 * The same, asked once in a second for all of one zone and country who have no quiet hours of their own: quiet hours begin
 * and end with a second, and clocks of a zone change with one.
 */
const oncePerSecond = (endOf: EndOf): EndOf => {
  const known = new Map<string, Date | null>();
  let second = Number.NaN;
  return (clock, now) => {
    if (clock.quietHours !== undefined) return endOf(clock, now);
    const current = Math.floor(now.getTime() / 1_000);
    if (current !== second) known.clear();
    second = current;
    const key = `${clock.zone} ${clock.country}`;
    const end = known.get(key);
    if (end !== undefined) return end;
    const found = endOf(clock, now);
    known.set(key, found);
    return found;
  };
};

const stepMs = 15_000;
const steps = 40; // ten minutes

/** Chunks that were held go on within ten minutes of the end, each at an instant of its own. */
const spreadOf = (chunkId: string): number => {
  let sum = 0;
  for (const char of chunkId) sum = (sum * 31 + char.charCodeAt(0)) % steps;
  return sum * stepMs;
};
