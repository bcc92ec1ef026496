import type { TSchema } from "typebox";
import { CustomEvent, EventsAccepted, EventTypeList, PublishEvents } from "#core/schema/events/custom.ts";
import { ErrorReply, OkReply } from "#core/schema/json/error.ts";
import {
  CreateLiveActivityType,
  LiveActivityProperty,
  LiveActivityType,
  LiveActivityTypeList,
  UpdateLiveActivityType,
} from "#core/schema/live-activities/type.ts";
import { Delivery, DeliveryPage } from "#core/schema/messages/delivery.ts";
import { CreateNotificationResult, Message, MessagePage } from "#core/schema/messages/message.ts";
import { CreateNotification } from "#core/schema/messages/notification.ts";
import { CreateSubscription, Subscription, UpdateSubscription } from "#core/schema/people/subscription.ts";
import { UpdateUser, UpsertUser, User } from "#core/schema/people/user.ts";
import { HealthReply, ServiceReply } from "#core/schema/service/status.ts";
import { WebhookFilters } from "#core/schema/webhooks/filters.ts";
import {
  CreateWebhook,
  PreviewWebhook,
  RecoverWebhook,
  Recovery,
  ReplayWebhook,
  UpdateWebhook,
  Webhook,
  WebhookAttempt,
  WebhookAttemptList,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookDeliveryPage,
  WebhookHealthReport,
  WebhookList,
  WebhookPreviewResult,
  WebhookWithSecret,
} from "#core/schema/webhooks/webhook.ts";

/** Schemas that the document names; found again by identity. */
export const named: readonly (readonly [string, TSchema])[] = [
  ["CreateLiveActivityType", CreateLiveActivityType],
  ["CreateNotification", CreateNotification],
  ["CreateNotificationResult", CreateNotificationResult],
  ["CreateSubscription", CreateSubscription],
  ["CreateWebhook", CreateWebhook],
  ["CustomEvent", CustomEvent],
  ["Delivery", Delivery],
  ["DeliveryPage", DeliveryPage],
  ["Error", ErrorReply],
  ["EventTypeList", EventTypeList],
  ["EventsAccepted", EventsAccepted],
  ["Health", HealthReply],
  ["LiveActivityProperty", LiveActivityProperty],
  ["LiveActivityType", LiveActivityType],
  ["LiveActivityTypeList", LiveActivityTypeList],
  ["Message", Message],
  ["MessagePage", MessagePage],
  ["Ok", OkReply],
  ["PreviewWebhook", PreviewWebhook],
  ["PublishEvents", PublishEvents],
  ["RecoverWebhook", RecoverWebhook],
  ["Recovery", Recovery],
  ["ReplayWebhook", ReplayWebhook],
  ["Service", ServiceReply],
  ["Subscription", Subscription],
  ["UpdateLiveActivityType", UpdateLiveActivityType],
  ["UpdateSubscription", UpdateSubscription],
  ["UpdateUser", UpdateUser],
  ["UpdateWebhook", UpdateWebhook],
  ["UpsertUser", UpsertUser],
  ["User", User],
  ["Webhook", Webhook],
  ["WebhookAttempt", WebhookAttempt],
  ["WebhookAttemptList", WebhookAttemptList],
  ["WebhookDelivery", WebhookDelivery],
  ["WebhookDeliveryDetail", WebhookDeliveryDetail],
  ["WebhookDeliveryPage", WebhookDeliveryPage],
  ["WebhookFilters", WebhookFilters],
  ["WebhookHealthReport", WebhookHealthReport],
  ["WebhookList", WebhookList],
  ["WebhookPreviewResult", WebhookPreviewResult],
  ["WebhookWithSecret", WebhookWithSecret],
];
