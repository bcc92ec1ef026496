import { settingsOf } from "#core/domain/apps/settings.ts";
import { dueInstants } from "#core/domain/messages/due-instants.ts";
import { commonHourOf, habitsBy, optimizedTimes } from "#core/domain/messages/optimized.ts";
import { type Schedule, scheduling, type Timing, throttled } from "#core/domain/messages/schedule.ts";
import type { Options } from "#core/schema/messages/notification.ts";
import { standardControlPercent } from "#core/schema/messages/optimized.ts";
import type { ScheduleShown } from "#core/schema/messages/schedule.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Probed } from "#core/storage/messages/targets.ts";
import type { HabitsOf } from "#core/storage/people/habits.ts";
import type { ClockOf, ZonesOf } from "#core/storage/people/zones.ts";
import type { OnReached } from "./estimate.ts";

export type ScheduleDeps = { zonesOf: ZonesOf; habitsOf: HabitsOf };

/** What of a message decides when its recipients are sent to. */
export type Scheduled = { options: Options; category: string | null; scheduledFor: Date | null; now: Date };

/** A schedule that is made while recipients are counted. */
export type Planned = {
  /** Left out where nobody has to be looked at. */
  onReached: OnReached | undefined;
  /** `recipients`: how many there are; null where not all were looked at. */
  shown: (recipients: number | null) => ScheduleShown;
};

const pageRows = 500;

/**
 * When the recipients of a message would be sent to: by local time, at a rate, and after their quiet hours. Null for a message
 * that goes to all at once. Source: docs/reference/notification-operations.md#schedules.
 */
export const planSchedule =
  (deps: ScheduleDeps) =>
  (app: AppRow, message: Scheduled): Planned | null => {
    const timing = timingOf(app, message);
    const { dueIn, quiet, ratePerMinute } = timing;
    const dueOf = message.options.delayed_option === "optimized" ? bestHours(deps, app, message) : null;
    if (dueIn === null && dueOf === null && ratePerMinute === null) return null;
    const schedule = scheduling(timing);
    const add = async (rows: readonly Probed[]): Promise<void> => {
      for (let from = 0; from < rows.length; from += pageRows) {
        const page = rows.slice(from, from + pageRows);
        const clocks = await deps.zonesOf(page);
        const own = await dueOf?.(page, clocks);
        for (const { _id, channel } of page) schedule.add(clocks.get(_id) ?? unknown, channel, own?.get(_id));
      }
    };
    const isLooking = dueIn !== null || dueOf !== null || quiet !== null;
    return {
      onReached: isLooking ? add : undefined,
      shown: (recipients) => {
        if (recipients === null)
          return { schedule: null, zone_unknown: null, local_time_missed: null, quiet_hours: null };
        return isLooking ? shownOf(schedule.result()) : ofRate(timing, recipients);
      },
    };
  };

/** When each is due in their best hour. Who would be of the control is not known before there is a message. */
const bestHours = ({ habitsOf }: ScheduleDeps, app: AppRow, { options, scheduledFor, now }: Scheduled) => {
  const { time_zone: appZone } = settingsOf(app);
  const start = scheduledFor ?? now;
  const controlPercent = options.optimized_control_percent ?? standardControlPercent;
  let common: number | null | undefined;
  return async (page: readonly Probed[], clocks: ReadonlyMap<string, ClockOf>): Promise<Map<string, Date>> => {
    const habits = await habitsOf(app._id, page, now);
    const people = habitsBy(page, { clocks, habits, appZone, at: now });
    common = common === undefined ? commonHourOf([...people.values()], start) : common;
    const dueOf = optimizedTimes({ messageId: "", start, appZone, controlPercent, commonHour: common });
    return new Map([...people].map(([id, one]) => [id, dueOf(one).at]));
  };
};

const unknown = { zone: null, country: null, quietHours: null };

const timingOf = (app: AppRow, { options, category, scheduledFor, now }: Scheduled): Timing => {
  const { quiet_hours: hours, exempt_categories: exempt, time_zone: appZone } = settingsOf(app);
  const isTest = options.test === true;
  const isExempt = isTest || options.quiet_hours_exempt === true || (category !== null && exempt.includes(category));
  const rate = isTest ? 0 : (options.throttle_rate_per_minute ?? app.throttle_default ?? 0);
  const times = { options, scheduled_for: scheduledFor, created_at: now };
  return {
    start: scheduledFor ?? now,
    appZone,
    dueIn: options.delayed_option === "timezone" ? dueInstants(times, app) : null,
    quiet:
      app.quiet_hours?.enabled === true && !isExempt
        ? { hours, channels: hours.channels === null ? null : new Set(hours.channels) }
        : null,
    ratePerMinute: rate === 0 ? null : rate,
  };
};

const shownOf = ({ slots, zoneUnknown, missed, quiet }: Schedule): ScheduleShown => ({
  schedule: slots.map(({ at, ...slot }) => ({ at: at.toISOString(), ...slot })),
  zone_unknown: zoneUnknown,
  local_time_missed: missed,
  quiet_hours: quiet,
});

/** Nobody's clock matters. */
const ofRate = ({ start, ratePerMinute }: Timing, recipients: number): ScheduleShown =>
  shownOf({
    slots: throttled([{ at: start, recipients, zones: [] }], ratePerMinute),
    zoneUnknown: 0,
    missed: 0,
    quiet: { moved: 0, dropped: 0 },
  });
