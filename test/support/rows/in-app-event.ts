import type { InAppEventRow } from "#core/storage/in-app-messages/events.ts";

/** Somebody was shown an in-app message. */
export const anInAppEvent = (over: Partial<InAppEventRow> & Pick<InAppEventRow, "_id">): InAppEventRow => ({
  tenant_id: "ten_1",
  app_id: "app_1",
  message_id: "iam_1",
  variant_id: "a",
  subscription_id: "sub_1",
  user_id: "usr_1",
  external_id: null,
  channel: "ios_push",
  type: "impression",
  page_id: null,
  click_id: null,
  at: new Date(),
  ...over,
});
