import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { showAs } from "#core/schema/json/show.ts";
import {
  type CreateLiveActivityChannel,
  LiveActivityChannel,
  mostChannels,
} from "#core/schema/live-activities/channel.ts";
import { type ActivityChannelRow, activityChannels } from "#core/storage/live-activities/channels.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import { noWork } from "#core/storage/work/due.ts";
import { quotaExceeded } from "../limits/quota-exceeded.ts";

/** What the interface does with broadcast channels; a dispatcher asks Apple for them. */
export const channelUse = ({ db, clock }: { db: Db; clock: Clock }) => {
  const channels = activityChannels(db);
  return {
    find: (type: LiveActivityTypeRow, id: string): Promise<ActivityChannelRow | null> =>
      channels.find(placeOf(type), id),

    list: async (type: LiveActivityTypeRow): Promise<LiveActivityChannel[]> => {
      const found = await channels.ofType(placeOf(type));
      return found.toSorted((a, b) => (a._id < b._id ? -1 : 1)).map(channelView);
    },

    /** @throws AppError HS_QUOTA_EXCEEDED */
    create: async (
      type: LiveActivityTypeRow,
      id: string,
      { stores_latest = true }: CreateLiveActivityChannel,
    ): Promise<LiveActivityChannel> => {
      const used = await channels.count(ofRow(type), mostChannels);
      const facts = { metric: "live_activity_channels", limit: mostChannels, used, needed: 1 } as const;
      if (used >= mostChannels) throw quotaExceeded(`an app may have ${mostChannels} live activity channels`, facts);
      const now = clock.now();
      const row: ActivityChannelRow = {
        ...noWork,
        _id: id,
        tenant_id: type.tenant_id,
        app_id: type.app_id,
        type_id: type._id,
        status: "creating",
        apns_channel_id: null,
        activity_id: null,
        stores_latest,
        error: null,
        created_at: now,
        updated_at: now,
        due_at: now,
      };
      await channels.insert(row);
      return channelView(row);
    },

    remove: ({ _id }: ActivityChannelRow): Promise<void> => channels.remove(_id, clock.now(), clock.now()),
  };
};

const placeOf = ({ tenant_id: tenantId, app_id: appId, _id: typeId }: LiveActivityTypeRow) => ({
  tenantId,
  appId,
  typeId,
});

export const channelView = (row: ActivityChannelRow): LiveActivityChannel =>
  showAs(LiveActivityChannel, { ...row, id: row._id });
