import type { CollectionSpec } from "./collection.ts";
import type { Managed } from "./plans.ts";
import type { Sealed } from "./sealed.ts";

/** Account of one channel's provider: what is public in the clear, what is secret sealed by the key ring. */
export type ChannelAccounts = {
  ios_push?: {
    team_id: string;
    key_id: string;
    bundle_id: string;
    environment: "production" | "sandbox";
    private_key: Sealed;
  };
  android_push?: { project_id: string; client_email: string; token_uri: string; private_key: Sealed };
  web_push?: { subject: string; public_key: string; private_key: Sealed };
  email?: {
    host: string;
    port: number;
    security: "starttls" | "tls" | "none";
    from_name: string | null;
    from_address: string;
    username: string | null;
    password: Sealed | null;
    dkim: { domain: string; selector: string; private_key: Sealed } | null;
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
};
