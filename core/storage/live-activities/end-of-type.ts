import type { Db } from "mongodb";
import { activities } from "./activities.ts";
import { activityChannels } from "./channels.ts";

/**
 * Ends what is left of a type that is removed: its activities, of which nothing more can be sent, and its broadcast
 * channels, which Apple is asked to delete. May run twice.
 */
export const endOfType = (db: Db) => {
  const [running, channels] = [activities(db), activityChannels(db)];
  return async (appId: string, typeId: string, now: Date): Promise<void> => {
    await running.endOfType(appId, typeId, now);
    await channels.removeOfType(appId, typeId, now);
  };
};
