import type { Db } from "mongodb";
import type { Sealed } from "../../runtime/process/key-ring.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import type { Managed, ManagedRows } from "../settings/managed.ts";

/**
 * Account of each channel's provider: what is public in the clear, what is secret sealed by the key ring under the
 * context `apps/<id>/<channel>.<member>`. `Secret` is `string` while they are open.
 */
export type ChannelAccounts<Secret = Sealed> = {
  ios_push?: {
    team_id: string;
    key_id: string;
    bundle_id: string;
    environment: "production" | "sandbox";
    private_key: Secret;
  };
  android_push?: { project_id: string; client_email: string; token_uri: string; private_key: Secret };
  web_push?: { subject: string; public_key: string; private_key: Secret };
  email?: {
    host: string;
    port: number;
    security: "starttls" | "tls" | "none";
    from_name: string | null;
    from_address: string;
    username: string | null;
    password: Secret | null;
    dkim: { domain: string; selector: string; private_key: Secret } | null;
  };
};

export type AppRow = {
  _id: string;
  tenant_id: string;
  name: string;
  /** IANA name. */
  time_zone: string;
  idempotency_mismatch: "replay" | "reject";
  channels: ChannelAccounts;
  /** Grows with every change of `channels`; a dispatcher's pool of an older revision is closed. */
  channels_revision: number;
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
  appRemoval: { kept: "the app itself: the operator removes it, and its data follows" },
  erasure: { kept: "names nobody" },
  retention: { kept: "until its resource goes" },
};

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
    countOthers: (tenantId: string, exceptId: string): Promise<number> =>
      rows.countDocuments({ tenant_id: tenantId, _id: { $ne: exceptId } }, { hint: "name" }),
  };
};
