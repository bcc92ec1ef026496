import { settingsOf } from "#core/domain/apps/settings.ts";
import { type DeviceConfig, DeviceSubscription } from "#core/schema/devices/subscription.ts";
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

/** What a client has to know of its app. */
export const configOf = (app: AppRow, hasInApp: boolean): DeviceConfig => {
  const { inbox, android_channels, ...settings } = settingsOf(app);
  const { identity_verification, receipts_enabled, session_threshold_s, log_level, outcomes } = settings;
  return {
    identity_verification,
    vapid_public_key: app.channels.web_push?.public_key ?? null,
    android_channels: [...android_channels],
    receipts_enabled,
    session_threshold_s,
    in_app_enabled: hasInApp,
    log_level,
    inbox_enabled: inbox.enabled,
    outcomes,
  };
};
