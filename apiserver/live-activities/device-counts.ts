import type { Clock } from "#core/domain/clock.ts";
import type { ActivityRecipients, DeviceStates, OfActivity } from "#core/storage/live-activities/recipients.ts";
import { recentCounts } from "../limits/recent-counts.ts";

export type DeviceCountsDeps = { recipients: Pick<ActivityRecipients, "tally">; clock: Clock };

/** So many devices are counted for each request, in some hundredths of a second. */
const few = 10_000;
/** Of more devices so many are counted, once in 10 s. Source: docs/reference/live-activities.md#activities. */
const most = 100_000;

/** How many devices of an activity are in which state: exact up to 10,000, up to 10 s old up to 100,000. */
export const deviceCounts = ({
  recipients: { tally },
  clock,
}: DeviceCountsDeps): ((of: OfActivity) => Promise<DeviceStates>) => {
  const recent = recentCounts<OfActivity, DeviceStates>((of) => tally(of, most), clock);
  return async (of) => {
    const states = await tally(of, few + 1);
    const counted = Object.values(states).reduce((sum, count) => sum + count, 0);
    return counted > few ? recent(of) : states;
  };
};
