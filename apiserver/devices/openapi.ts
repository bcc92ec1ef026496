import type { AddEmail, AddPhone, AddressAdded, ErasePerson } from "#core/schema/devices/address.ts";
import type { DeviceUser, SetDeviceAlias, UpdateDeviceUser } from "#core/schema/devices/person.ts";
import type { Preferences, SetPreferences } from "#core/schema/devices/preferences.ts";
import type {
  DeviceEvents,
  DeviceReceipts,
  ReceiptsAccepted,
  ReportSession,
  SessionReported,
} from "#core/schema/devices/reports.ts";
import type {
  DeviceConfig,
  DeviceLoggedIn,
  DeviceLoggedOut,
  DeviceLogin,
  DeviceLogout,
  DeviceRegistered,
  DeviceSubscription,
  RegisterDevice,
  UpdateDevice,
} from "#core/schema/devices/subscription.ts";
import { examples as refs } from "#core/schema/events/refs.ts";
import { aliasLabel } from "#core/schema/people/user.ts";
import type { Docs } from "../http/feature.ts";
import { pathPart } from "../http/openapi/parameters.ts";

const instant = "2026-11-27T12:00:00.000Z";
const device = { model: "iPhone17,1", os_version: "26.1", app_version: "2.4.0", timezone: "Europe/Berlin" };
const token = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad";
const phone: RegisterDevice = {
  install_id: "0d6e6c9a-5f0c-4b43-9a53-0f0c6f4d7d52",
  channel: "ios_push",
  token,
  device,
};
const receipt: DeviceReceipts["receipts"][number] = {
  type: "clicked",
  message_id: refs.message_id,
  button_id: "buy",
  url: "https://shop.example/offers",
  occurred_at: instant,
};
const event: DeviceEvents["events"][number] = {
  id: "9c5b2f0e-1d0e-4a53-8a55-1f6f3f0b9a11",
  name: "cart.filled",
  value: 19.9,
  properties: { items: 2 },
};
const own = { subscription_id: refs.subscription_id, user_id: refs.user_id, status: "subscribed" } as const;

/** What the OpenAPI document says of devices beside their operations. */
export const docs: Docs = {
  tags: { Devices: "What phones and browsers call themselves, without a server of the app's." },
  examples: {
    RegisterDevice: [phone, { ...phone, token: null, status_detail: 0, tags: { plan: "gold" }, test_device: true }],
    DeviceRegistered: [
      { ...own, subscription_token: "sst_c2VjcmV0LW9mLXRoaXMtaW5zdGFsbGF0aW9uLW9ubHk" },
    ] satisfies DeviceRegistered[],
    UpdateDevice: [{ enabled: false }, { token, status_detail: 1 }] satisfies UpdateDevice[],
    DeviceLogin: [
      { external_id: "customer-42" },
      { external_id: "customer-42", aliases: { crm: "C-42" } },
    ] satisfies DeviceLogin[],
    DeviceLoggedIn: [{ user_id: refs.user_id, merged: true, claimed: [] }] satisfies DeviceLoggedIn[],
    UpdateDeviceUser: [{ tags: { plan: "gold", trial: null }, language: "de" }] satisfies UpdateDeviceUser[],
    DeviceUser: [{ user_id: refs.user_id }] satisfies DeviceUser[],
    SetPreferences: [
      { categories: { promo: { ios_push: false, email: true } } },
      { quiet_hours: { enabled: true, start: "21:00", end: "09:00" } },
    ] satisfies SetPreferences[],
    Preferences: [
      {
        categories: { promo: { ios_push: false, android_push: true, email: true } },
        quiet_hours: { enabled: true, start: "21:00", end: "09:00", own: true },
      },
    ] satisfies Preferences[],
    AddEmail: [{ address: "anna@example.com", opted_in: true }] satisfies AddEmail[],
    AddPhone: [{ address: "+4915112345678" }] satisfies AddPhone[],
    AddressAdded: [
      { subscription_id: refs.subscription_id, user_id: refs.user_id, channel: "email", status: "subscribed" },
    ] satisfies AddressAdded[],
    ErasePerson: [{}] satisfies ErasePerson[],
    SetDeviceAlias: [{ id: "S-7" }] satisfies SetDeviceAlias[],
    DeviceLogout: [{}] satisfies DeviceLogout[],
    DeviceLoggedOut: [{ user_id: refs.user_id }] satisfies DeviceLoggedOut[],
    ReportSession: [{ started_at: instant, duration_s: 95 }] satisfies ReportSession[],
    SessionReported: [{ counted: "new" }] satisfies SessionReported[],
    DeviceReceipt: [receipt],
    DeviceReceipts: [{ receipts: [receipt] }] satisfies DeviceReceipts[],
    ReceiptsAccepted: [{ accepted: 1, duplicates: 0, errors: [] }] satisfies ReceiptsAccepted[],
    DeviceEvent: [event],
    DeviceEvents: [{ events: [event] }] satisfies DeviceEvents[],
    DeviceSubscription: [
      {
        ...own,
        channel: "ios_push",
        has_token: true,
        status_reason: null,
        status_detail: 1,
        language: "de",
        device,
        created_at: instant,
        updated_at: instant,
      },
    ] satisfies DeviceSubscription[],
    DeviceConfig: [
      {
        identity_verification: "optional",
        vapid_public_key: null,
        android_channels: [{ id: "goals", name: "Goals", importance: "high" }],
        receipts_enabled: true,
        session_threshold_s: 30,
        in_app_enabled: true,
        log_level: "warn",
        inbox_enabled: true,
        outcomes: { direct_minutes: 1440, influenced_minutes: 1440, influenced_limit: 10 },
      },
    ] satisfies DeviceConfig[],
  },
  queryExamples: { platform: "ios" },
  pathParameters: {
    subscriptionId: pathPart("id of the device's own subscription", refs.subscription_id),
    label: pathPart("the label of an alias", "crm", { pattern: aliasLabel.pattern }),
  },
};
