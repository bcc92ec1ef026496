import { settingsOf } from "#core/domain/apps/settings.ts";
import { quietUntil } from "#core/domain/messages/quiet-hours.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { ZonesOf } from "#core/storage/people/zones.ts";
import type { Work } from "../delivery/work.ts";

/** Until when a recipient is to have quiet, asked right before they are sent to; null when they need not. */
export type Quiet = { untilOf: (recipient: Reached, now: Date) => Date | null; isDropped: boolean };

/**
 * The quiet hours for the recipients of a run; null where there are none: the app has none for the channel, or the message
 * or its category is exempt, is a change of a live activity or a delivery that is sent again.
 */
export const quietHours =
  (zonesOf: ZonesOf) =>
  async ({ app, message, chunk }: Work, recipients: readonly Reached[]): Promise<Quiet | null> => {
    if (app.quiet_hours?.enabled !== true) return null;
    const { quiet_hours: hours, exempt_categories: exempt, time_zone: appZone } = settingsOf(app);
    const { options, category, live_activity: activity } = message;
    const isExempt =
      message.source === "test" ||
      options.quiet_hours_exempt === true ||
      (category !== null && exempt.includes(category));
    if (isExempt || activity !== undefined || chunk.resend_until !== undefined) return null;
    if (hours.channels !== null && !hours.channels.includes(chunk.channel)) return null;
    const clocks = await zonesOf(recipients);
    const unknown = { zone: null, country: null, quietHours: null };
    const [first, spreadMs] = [new Map<string, Date>(), spreadOf(chunk._id)];
    const untilOf = ({ _id }: Reached, now: Date): Date | null => {
      const end = quietUntil(hours, { clock: clocks.get(_id) ?? unknown, appZone, now });
      if (end === null) return null;
      const key = String(end.getTime());
      const at = first.get(key) ?? new Date(end.getTime() + spreadMs);
      first.set(key, at);
      return at;
    };
    return { untilOf, isDropped: hours.mode === "drop" };
  };

const stepMs = 15_000;
const steps = 40; // ten minutes

/** Chunks that were held go on within ten minutes of the end, each at an instant of its own. */
const spreadOf = (chunkId: string): number => {
  let sum = 0;
  for (const char of chunkId) sum = (sum * 31 + char.charCodeAt(0)) % steps;
  return sum * stepMs;
};
