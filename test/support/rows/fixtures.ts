import { createHash, randomBytes } from "node:crypto";
import type { Db } from "mongodb";
import { newId } from "#core/domain/ids.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { planFeatures } from "#core/schema/vocabulary/plan-features.ts";
import { type ApiKeyRow, apiKeyCollection } from "#core/storage/api-keys/api-keys.ts";
import { type AppRow, appCollection } from "#core/storage/apps/apps.ts";
import { type CollectionSpec, collectionOf } from "#core/storage/mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { aliasKey, type UserRow, userCollection } from "#core/storage/people/users.ts";
import { type PlanRow, planCollection } from "#core/storage/plans/plans.ts";
import { type TenantRow, tenantCollection } from "#core/storage/tenants/tenants.ts";
import { noWork } from "#core/storage/work/due.ts";

/** Long enough ago that nothing which depends on age (a new organisation's cap) applies. */
export const longSince = new Date("2026-01-01T00:00:00Z");

/** The key ring of test installations. */
export const testKeyRing = `test:${Buffer.alloc(32, 7).toString("base64")}`;

/** A plan without limits. */
export const aPlan = (over: Partial<PlanRow> = {}): PlanRow => ({
  _id: "enterprise",
  title: "Enterprise",
  api_rps: 2_000,
  subscribers: null,
  messages_per_month: null,
  apps: null,
  webhook_endpoints: 100,
  retention_days: 730,
  backlog_per_tenant: 10_000,
  waiting_event_bytes: 64_000_000,
  features: [...planFeatures],
  managed: null,
  updated_at: longSince,
  ...over,
});

/** A tenant on {@link aPlan}; its name and namespace are its own. */
export const aTenant = (over: Partial<TenantRow> = {}): TenantRow => {
  const id = newId("tenant", new Date());
  return {
    _id: id,
    name: id.toLowerCase().replace("_", "-"),
    plan: "enterprise",
    namespaces: [id.toLowerCase().replace("_", "-")],
    suspended: false,
    suspended_reason: null,
    contact_email: null,
    managed: null,
    created_at: longSince,
    updated_at: longSince,
    ...over,
  };
};

/** Of a mail account that has no more than it needs. */
export const plainMail = {
  from_name: null,
  username: null,
  password: null,
  dkim: null,
  bounces: null,
  tracking_url: null,
  tracking: null,
  transactional_categories: null,
  ses: null,
  sendgrid: null,
  mailgun: null,
  postmark: null,
};

/** An app with no account on any channel; {@link allAccounts} has them all. */
export const anApp = (over: Partial<AppRow> & Pick<AppRow, "tenant_id">): AppRow => {
  const id = newId("app", new Date());
  return {
    _id: id,
    name: id,
    time_zone: "Europe/Berlin",
    idempotency_mismatch: "replay",
    channels: {},
    channels_revision: 1,
    managed: null,
    created_at: longSince,
    updated_at: longSince,
    ...over,
  };
};

/** Accounts of all channels. Their secrets are sealed, but are no real keys: nothing can be sent with them. */
export const allAccounts = (appId: string): AppRow["channels"] => {
  const ring = keyRing(testKeyRing);
  const seal = (place: string) => ring.seal("not a key", `apps/${appId}/${place}`);
  return {
    ios_push: {
      team_id: "TEAM123456",
      key_id: "KEY1234567",
      bundle_id: "dev.herald.test",
      environment: "production",
      private_key: seal("ios_push.private_key"),
    },
    android_push: {
      project_id: "test",
      client_email: "test@example.com",
      token_uri: "https://oauth2.googleapis.com/token",
      private_key: seal("android_push.private_key"),
    },
    hms_push: {
      app_id: "104812345",
      badge_class: null,
      callback_user: null,
      callback_key: null,
      client_secret: seal("hms_push.client_secret"),
    },
    web_push: { subject: "mailto:a@example.com", public_key: "BA", private_key: seal("web_push.private_key") },
    email: { ...plainMail, host: "127.0.0.1", port: 1025, security: "none", from_address: "from@example.com" },
    whatsapp: {
      provider: "meta",
      twilio: null,
      phone_number_id: "106540352242922",
      api_version: "v25.0",
      messages_per_second: 80,
      access_token: seal("whatsapp.access_token"),
      app_secret: seal("whatsapp.app_secret"),
      verify_token: seal("whatsapp.verify_token"),
    },
    sms: {
      provider: "twilio",
      twilio: {
        ...twilioAccount,
        auth_token: seal("sms.twilio.auth_token"),
        messaging_service_sid: null,
        senders: ["+15005550006"],
      },
      vonage: null,
    },
    rcs: {
      ...twilioAccount,
      auth_token: seal("rcs.auth_token"),
      sender: "rcs:shop_agent",
      messaging_service_sid: `MG${"2".repeat(32)}`,
    },
  };
};

const twilioAccount = { account_sid: `AC${"1".repeat(32)}`, api_key_sid: null, api_key_secret: null };

/** A key with its token, which only its maker knows. */
export const anApiKey = (
  over: Partial<ApiKeyRow> & Pick<ApiKeyRow, "tenant_id">,
): { row: ApiKeyRow; token: string } => {
  const token = `hs_${randomBytes(24).toString("base64url")}`;
  const row: ApiKeyRow = {
    _id: newId("apiKey", new Date()),
    app_ids: null,
    name: "test",
    scopes: ["admin"],
    hashes: [{ hash: hashOf(token), expires_at: null }],
    revoked_at: null,
    managed: null,
    created_at: longSince,
    updated_at: longSince,
    ...over,
  };
  return { row, token };
};

/** What is stored of a token. */
export const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

/** A user with an external id of their own. */
export const aUser = (over: Partial<UserRow> & Pick<UserRow, "tenant_id" | "app_id">): UserRow => {
  const id = over._id ?? newId("user", new Date());
  const externalId = over.external_id === undefined ? `ext-${id}` : over.external_id;
  const aliases = { user_id: id, ...(externalId !== null && { external_id: externalId }), ...over.aliases };
  return {
    _id: id,
    external_id: externalId,
    aliases: {},
    alias_keys: Object.entries(aliases).map(([label, alias]) => aliasKey(label, alias)),
    tags: {},
    properties: {},
    language: null,
    time_zone: null,
    country: null,
    first_seen_at: longSince,
    last_active_at: longSince,
    created_at: longSince,
    updated_at: longSince,
    ...noWork,
    outbox: [],
    changed: [],
    revision: 0,
    ...over,
  };
};

/** An iOS device. */
export const aSubscription = (
  over: Partial<SubscriptionRow> & Pick<SubscriptionRow, "tenant_id" | "app_id">,
): SubscriptionRow => ({
  _id: newId("subscription", new Date()),
  user_id: newId("user", new Date()),
  external_id: null,
  channel: "ios_push",
  token: randomBytes(32).toString("hex"),
  web: null,
  status: "subscribed",
  status_reason: null,
  language: null,
  test_device: false,
  device: {},
  last_active_at: longSince,
  unsubscribed_at: null,
  created_at: longSince,
  updated_at: longSince,
  ...noWork,
  outbox: [],
  ...over,
});

export type Seed = {
  plans?: PlanRow[];
  tenants?: TenantRow[];
  apps?: AppRow[];
  apiKeys?: ApiKeyRow[];
  users?: UserRow[];
  subscriptions?: SubscriptionRow[];
};

/** Writes rows as the operator would have; a plan that is there already is replaced. */
export const seed = async (db: Db, rows: Seed): Promise<void> => {
  for (const plan of rows.plans ?? []) {
    await collectionOf<PlanRow>(db, planCollection).replaceOne({ _id: plan._id }, plan, { upsert: true });
  }
  await insert(db, tenantCollection, rows.tenants);
  await insert(db, appCollection, rows.apps);
  await insert(db, apiKeyCollection, rows.apiKeys);
  await insert(db, userCollection, rows.users);
  await insert(db, subscriptionCollection, rows.subscriptions);
};

const insert = async (db: Db, spec: CollectionSpec, rows: readonly object[] = []): Promise<void> => {
  for (let from = 0; from < rows.length; from += 5_000) {
    await collectionOf(db, spec).insertMany(rows.slice(from, from + 5_000));
  }
};

/** An organisation on an unlimited plan, with one app on all channels and a key for everything. */
export const seedTenant = async (
  db: Db,
  over: { plan?: Partial<PlanRow>; app?: Partial<AppRow>; key?: Partial<ApiKeyRow>; tenant?: Partial<TenantRow> } = {},
): Promise<{ plan: PlanRow; tenant: TenantRow; app: AppRow; key: ApiKeyRow; token: string }> => {
  const plan = aPlan(over.plan);
  const tenant = aTenant({ plan: plan._id, ...over.tenant });
  const blank = anApp({ tenant_id: tenant._id });
  const app: AppRow = { ...blank, channels: allAccounts(blank._id), ...over.app };
  const { row: key, token } = anApiKey({ tenant_id: tenant._id, ...over.key });
  await seed(db, { plans: [plan], tenants: [tenant], apps: [app], apiKeys: [key] });
  return { plan, tenant, app, key, token };
};
