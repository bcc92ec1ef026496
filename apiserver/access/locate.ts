import { invalid, NotFound } from "#core/errors.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import type { MessageRow } from "#core/storage/messages/messages.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Located } from "../http/route.ts";
import type { UseCases } from "../platform.ts";
import type { DeliveryOfEndpoint } from "../webhooks/replay.ts";

/** The app that the path names. */
export const appOfPath = ({ params, caller }: Located, use: UseCases): Promise<AppRow> =>
  use.app(caller, params["appId"] ?? "");

/** The app that the body names; a key for one app implies it. Null when neither says: validation's to refuse. */
export const appOfBody = ({ body, caller }: Located, use: UseCases): Promise<AppRow | null> =>
  appNamed(typeof body === "object" && body !== null && "app_id" in body ? body.app_id : undefined, caller, use);

/** The same for the query. */
export const appOfQuery = ({ query, caller }: Located, use: UseCases): Promise<AppRow | null> =>
  appNamed(query["app_id"], caller, use);

const appNamed = async (id: unknown, caller: Located["caller"], use: UseCases): Promise<AppRow | null> => {
  const [only, ...others] = caller.key.app_ids ?? [];
  if (id === undefined) return only === undefined || others.length > 0 ? null : use.app(caller, only);
  return typeof id === "string" && id !== "" ? use.app(caller, id) : null;
};

/** What to say when nobody named the app. */
export const requireApp = (app: AppRow | null): AppRow => {
  if (app === null) throw invalid("app_id", "is required: this key is not bound to one app");
  return app;
};

/** The message that the path names, in an app that the caller may use. */
export const messageOfPath = async ({ params, query, caller, signal }: Located, use: UseCases): Promise<MessageRow> => {
  const message = await use.messages.find(caller.tenant._id, params["messageId"] ?? "", signal);
  const { app_id: appId } = query;
  if (message === null || (typeof appId === "string" && appId !== message.app_id)) throw new NotFound("notification");
  const { app_ids: appIds } = caller.key;
  if (appIds !== null && !appIds.includes(message.app_id)) throw new NotFound("notification");
  return message;
};

/** The user that the path names by one of his ids. */
export const userOfPath = async (located: Located, use: UseCases): Promise<UserRow> => {
  const app = await appOfPath(located, use);
  const { label = "", id = "" } = located.params;
  const user = await use.users.find(app.tenant_id, app._id, label, id);
  if (user === null) throw new NotFound("user");
  return user;
};

/** The subscription that the path names. */
export const subscriptionOfPath = async (located: Located, use: UseCases): Promise<SubscriptionRow> => {
  const app = await appOfPath(located, use);
  const row = await use.subscriptions.find(app.tenant_id, app._id, located.params["subscriptionId"] ?? "");
  if (row === null) throw new NotFound("subscription");
  return row;
};

/** The live activity type that the path names by its id or its name. */
export const activityTypeOfPath = async (located: Located, use: UseCases): Promise<LiveActivityTypeRow> => {
  const { tenant_id: tenantId, _id: appId } = await appOfPath(located, use);
  const found = await use.activityTypes.find(tenantId, appId, located.params["activityType"] ?? "");
  return existing(found, "live activity type");
};

/** The webhook that the path names. */
export const webhookOfPath = async (located: Located, use: UseCases): Promise<WebhookRow> => {
  const app = await appOfPath(located, use);
  return existing(await use.webhooks.find(app.tenant_id, app._id, located.params["webhookId"] ?? ""), "webhook");
};

/** The webhook delivery that the path names, and its webhook: that of one which is gone is gone too. */
export const webhookDeliveryOfPath = async (located: Located, use: UseCases): Promise<DeliveryOfEndpoint> => {
  const { tenant_id: tenantId, _id: appId } = await appOfPath(located, use);
  const found = await use.webhooks.findDelivery(tenantId, appId, located.params["deliveryId"] ?? "");
  const delivery = existing(found, "delivery");
  const endpoint = existing(await use.webhooks.find(tenantId, appId, delivery.endpoint_id), "delivery");
  return { delivery, endpoint };
};

/** What was found. @throws NotFound when it was not */
export const existing = <T>(found: T | null, resource: string): T => {
  if (found === null) throw new NotFound(resource);
  return found;
};
