import { settingsOf } from "#core/domain/apps/settings.ts";
import { commonHourOf, habitsBy, optimizedTimes } from "#core/domain/messages/optimized.ts";
import { standardControlPercent } from "#core/schema/messages/optimized.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { HabitsOf } from "#core/storage/people/habits.ts";
import type { ZonesOf } from "#core/storage/people/zones.ts";
import { restFrom } from "../delivery/by-variant.ts";
import type { Later } from "../delivery/later.ts";

export type OptimizedDeps = {
  zonesOf: ZonesOf;
  habitsOf: HabitsOf;
  /** Keeps the common hour of a message unless it has one; gives what counts. */
  commonHour: (messageId: string, found: number | null) => Promise<number | null>;
};

/**
 * Sorts recipients by their own best hour. The common one is found by whoever looks at people of the message first, by these, and
 * kept with it, so that every dispatcher goes by the same. Source: docs/reference/timing.md#optimised.
 */
export const byBestHour =
  (deps: OptimizedDeps) =>
  async (message: MessageRow, app: AppRow, rows: readonly Reached[]): Promise<Later[]> => {
    const { _id: messageId, created_at, scheduled_for, options } = message;
    const start = scheduled_for ?? created_at;
    const { time_zone: appZone } = settingsOf(app);
    const [clocks, habits] = [await deps.zonesOf(rows), await deps.habitsOf(message.app_id, rows, created_at)];
    const people = habitsBy(rows, { clocks, habits, appZone, at: created_at });
    const common =
      message.common_hour === undefined
        ? await deps.commonHour(messageId, commonHourOf([...people.values()], start))
        : message.common_hour;
    const controlPercent = options.optimized_control_percent ?? standardControlPercent;
    const known = new Map<number, ReturnType<typeof optimizedTimes>>();
    const timesFrom = (from: Date) => {
      const times =
        known.get(from.getTime()) ??
        optimizedTimes({ messageId, start: from, appZone, controlPercent, commonHour: common });
      known.set(from.getTime(), times);
      return times;
    };
    return rows.flatMap((subscription) => {
      const habits = people.get(subscription._id);
      if (habits === undefined) return [];
      const dueOf = timesFrom(restFrom(message, habits.userId) ?? start); // who waits for a form is due after that
      return [{ subscription, isZoneUnknown: habits.isZoneUnknown, ...dueOf(habits) }];
    });
  };
