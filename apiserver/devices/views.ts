import { settingsOf } from "#core/domain/apps/settings.ts";
import { type ClientPlatform, type DeviceConfig, DeviceSubscription } from "#core/schema/devices/subscription.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { isDevice, isToken } from "#core/storage/people/devices.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";

/** A subscription as its own device sees it. */
export const deviceView = (row: SubscriptionRow): DeviceSubscription => {
  if (!isDevice(row)) throw new Error(`${row._id} is no device`);
  return showAs(DeviceSubscription, {
    ...row,
    subscription_id: row._id,
    has_token: isToken(row.token),
    status_detail: row.status_detail ?? null,
  });
};

/** Whose config: a platform, or all where none is named; `hasInApp`: whether the app has in-app messages. */
export type ConfigAsked = { platform: ClientPlatform | undefined; hasInApp: boolean };

/** What a client has to know of its app. */
export const configOf = (app: AppRow, { platform, hasInApp }: ConfigAsked): DeviceConfig => {
  const isOf = (...platforms: readonly ClientPlatform[]) => platform === undefined || platforms.includes(platform);
  const { inbox, android_channels, ...settings } = settingsOf(app);
  const { identity_verification, receipts_enabled, session_threshold_s, log_level, outcomes } = settings;
  return {
    identity_verification,
    vapid_public_key: isOf("web") ? (app.channels.web_push?.public_key ?? null) : null,
    android_channels: isOf("android", "huawei") ? [...android_channels] : [],
    receipts_enabled,
    session_threshold_s,
    in_app_enabled: hasInApp,
    log_level,
    inbox_enabled: inbox.enabled,
    outcomes,
  };
};
