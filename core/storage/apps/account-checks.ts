import type { Db } from "mongodb";
import type { AccountResult } from "../../schema/apps/account.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { unlessTaken } from "../mongo/duplicate.ts";
import { byId } from "../mongo/loader.ts";
import { dueIndex } from "../work/due.ts";
import type { JobRow } from "../work/jobs.ts";
import type { AppRow } from "./apps.ts";

/** The connection test of an app's account on a channel: due when the account has changed, and now and then. */
export type AccountCheckRow = JobRow & {
  channel: Channel;
  /** `channels_revision` of the accounts for which it was asked last. */
  revision: number;
  last: LastCheck | null;
};

/** What the last check came to. `reason` and `provider_code` are null when the account is verified. */
export type LastCheck = {
  result: AccountResult;
  reason: string | null;
  provider_code: string | null;
  /** `channels_revision` of the accounts that were checked. */
  revision: number;
  /** How often in a row it has come to this result. */
  times: number;
  checked_at: Date;
  /** When it came to this result first. */
  since: Date;
};

export const accountCheckCollection: CollectionSpec = {
  name: "account_checks",
  indexes: [dueIndex, { key: { app_id: 1 }, name: "app" }],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { kept: "names nobody" },
  retention: { kept: "until its account, or the app, goes" },
};

/** Those of one app, by channel. */
export type AccountCheckRows = ReadonlyMap<string, AccountCheckRow>;

export type AccountChecks = ReturnType<typeof accountChecks>;

type AppAccounts = Pick<AppRow, "_id" | "channels">;

export const accountChecks = (db: Db) => {
  const rows = collectionOf<AccountCheckRow>(db, accountCheckCollection);
  const find = byId(rows);
  return {
    /** Those of the accounts that an app has, by channel. */
    of: async ({ _id, channels }: AppAccounts): Promise<AccountCheckRows> => {
      const found = await Promise.all(Object.keys(channels).map((channel) => find(idOf(_id, channel))));
      return new Map(found.flatMap((row) => (row === null ? [] : [[row.channel, row]])));
    },

    /**
     * Has accounts of an app checked now. A check that is under way loses its lease, because it may have begun before
     * what it is to find.
     */
    ask: async (app: CheckedApp, channels: readonly Channel[], now: Date): Promise<void> => {
      const { _id: app_id, tenant_id, channels_revision: revision } = app;
      const writes = channels.map((channel) => ({
        updateOne: {
          filter: { _id: idOf(app_id, channel) },
          update: {
            $set: { revision, due_at: now, lease: null },
            $inc: { fence: 1 },
            $setOnInsert: { tenant_id, app_id, channel, last: null },
          },
          upsert: true,
        },
      }));
      // a duplicate: somebody else asked for the same at the same moment
      if (writes.length > 0) await unlessTaken(() => rows.bulkWrite(writes, { ordered: false }), null);
    },

    /** Removes that of an account which is gone, unless it was asked for again meanwhile. */
    drop: async ({ _id, fence }: Pick<AccountCheckRow, "_id" | "fence">): Promise<void> => {
      await rows.deleteOne({ _id, fence });
    },
  };
};

type CheckedApp = Pick<AppRow, "_id" | "tenant_id" | "channels_revision">;

const idOf = (appId: string, channel: string): string => `${appId}/${channel}`;
