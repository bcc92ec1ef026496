import type { Db } from "mongodb";
import type { ChannelAccounts } from "../../channels/accounts.ts";
import type { Spread } from "../../domain/webhooks/partitions.ts";
import type { Sealed } from "../../runtime/process/key-ring.ts";
import type { SettingValues } from "../../schema/apps/settings.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { ownedRows } from "../settings/app-settings.ts";
import type { Managed, ManagedRows } from "../settings/managed.ts";
import type { Changeable } from "../work/intended-changes.ts";

/** Its settings, as they were set, are among its members: `settingsOf` (core/domain/apps/settings.ts) gives those that count. */
export type AppRow = Changeable &
  SettingValues & {
    _id: string;
    tenant_id: string;
    name: string;
    /** The provider accounts, their secrets sealed by the key ring. */
    channels: ChannelAccounts<Sealed>;
    /** Grows with every change of `channels`; a dispatcher's pool of an older revision is closed. */
    channels_revision: number;
    /** Over how many partitions its endpoints are placed since it has many; one when absent. */
    webhook_spread?: Spread;
    managed: Managed | null;
    created_at: Date;
    updated_at: Date;
  };

export const appCollection: CollectionSpec = {
  name: "apps",
  indexes: [
    { key: { tenant_id: 1, name: 1 }, name: "name", unique: true },
    { key: { "managed.uid": 1 }, name: "managed" },
  ],
  owner: { kind: "tenant", member: "tenant_id" },
  appRemoval: { kept: "the app itself: its resource or the REST interface removes it, and its data follows" },
  erasure: { kept: "names nobody" },
  retention: { kept: "until it is removed" },
};

/** Of an organisation, whatever its plan says. */
export const mostApps = 100_000;

export type Apps = ManagedRows<AppRow> & ReturnType<typeof apps>;

export const apps = (db: Db) => {
  const rows = collectionOf<AppRow>(db, appCollection);
  return {
    find: (id: string): Promise<AppRow | null> => rows.findOne({ _id: id }),
    /** The app of a tenant that has a name; at most one. */
    called: (tenantId: string, name: string): Promise<AppRow | null> => rows.findOne({ tenant_id: tenantId, name }),
    /** Some of a tenant's apps, at most `limit`. */
    ofTenant: (tenantId: string, limit: number): Promise<AppRow[]> =>
      rows.find({ tenant_id: tenantId }, { hint: "name" }).limit(limit).toArray(),
    /** What the REST interface does to apps; they are counted by their tenant. */
    owned: {
      ...ownedRows(rows),
      count: (tenantId: string): Promise<number> =>
        rows.countDocuments({ tenant_id: tenantId }, { hint: "name", limit: mostApps + 1 }),
    },
    countOthers: (tenantId: string, exceptId: string): Promise<number> =>
      rows.countDocuments({ tenant_id: tenantId, _id: { $ne: exceptId } }, { hint: "name" }),
  };
};
