import { settingsOf } from "#core/domain/apps/settings.ts";
import type { AccountCheck, ChannelAccount, PutChannelAccount } from "#core/schema/apps/account.ts";
import type { App } from "#core/schema/apps/app.ts";
import { exampleTime } from "#core/schema/events/refs.ts";
import { channels } from "#core/schema/vocabulary/channels.ts";
import type { Docs } from "../http/feature.ts";
import { pathPart } from "../http/openapi/parameters.ts";

const refused: AccountCheck = {
  result: "refused",
  reason: "APNs refused the push: InvalidProviderToken",
  provider_code: "403 InvalidProviderToken",
  is_current: true,
  checked_at: exampleTime,
  since: exampleTime,
};

const account: ChannelAccount = {
  channel: "ios_push",
  provider: "apns",
  settings: { team_id: "TEAM123456", key_id: "KEY1234567", bundle_id: "com.example.shop", environment: "production" },
  check: refused,
};

const put: PutChannelAccount = {
  settings: { subject: "mailto:push@example.com" },
  secrets: { private_key: "YW4gZXhhbXBsZSwgYW5kIG9mIG5vYm9keSBhdCBhbGw" }, // nobody's
};

const app: App = {
  id: "app_01JDKQ4WSM6T3EYB8K5NRC1VHX",
  name: "shop",
  time_zone: "Europe/Berlin",
  channels: ["ios_push"],
  removal: null,
  managed: null,
  created_at: exampleTime,
  updated_at: exampleTime,
};

/** What the OpenAPI document says of apps beside their operations. */
export const docs: Docs = {
  tags: { Apps: "Settings of apps, their channels, and whether their accounts at providers work." },
  examples: {
    AccountCheck: [refused],
    ChannelAccount: [account, { ...account, check: null }],
    ChannelAccountList: [{ data: [account] }],
    PutChannelAccount: [put],
    App: [app, { ...app, channels: [], removal: { started_at: exampleTime, removed: 1200 } }],
    AppList: [{ data: [app] }],
    CreateApp: [{ name: "shop", time_zone: "Europe/Berlin" }, { name: "another shop" }],
    UpdateApp: [{ name: "the shop" }],
    AppSettings: [settingsOf({ time_zone: "Europe/Berlin" })],
    UpdateAppSettings: [{ time_zone: "Europe/Berlin", outcomes: { direct_minutes: 720 } }, { outcomes: null }],
  },
  pathParameters: {
    channel: pathPart("one of the eight channels", "web_push", { enum: [...channels] }),
  },
};
