import { OkReply } from "#core/schema/json/error.ts";
import { CreateSubscription, Subscription, UpdateSubscription } from "#core/schema/people/subscription.ts";
import { UpdateUser, UpsertUser, User } from "#core/schema/people/user.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { subscriptionView, userView } from "#core/storage/people/views.ts";
import { appOfPath, existing, subscriptionOfPath, userOfPath } from "../access/locate.ts";
import { route } from "../http/route.ts";
import type { UseCases } from "../platform.ts";

const tag = "Users and subscriptions";
const ofApp = "/v1/apps/{appId}";
const ofUser = `${ofApp}/users/by/{label}/{id}`;
const ofSubscription = `${ofApp}/subscriptions/{subscriptionId}`;

const shown = async (use: UseCases, user: UserRow): Promise<User> =>
  userView(user, await use.subscriptions.ofUser(user.tenant_id, user.app_id, user._id));

export const userRoutes = [
  route({
    id: "upsertUser",
    method: "POST",
    path: `${ofApp}/users`,
    summary: "Make a user, or update the one that has one of these ids",
    tag,
    scopes: ["admin"],
    status: [201, 200],
    errors: ["HS_ALIAS_CLAIMED", "HS_CONFLICT", "HS_QUOTA_EXCEEDED"],
    body: UpsertUser,
    reply: User,
    locate: appOfPath,
    repeatable: {
      show: async ({ use, resource: app }, id) =>
        shown(use, existing(await use.users.find(app.tenant_id, app._id, "user_id", id), "user")),
    },
    handle: async ({ use, caller, body, resource: app }) => {
      const { user, isNew } = await use.upsertUser(caller, app, body);
      return { body: await shown(use, user), status: isNew ? 201 : 200 };
    },
  }),

  route({
    id: "getUser",
    method: "GET",
    path: ofUser,
    summary: "Show a user by one of his ids",
    tag,
    scopes: ["admin"],
    status: [200],
    reply: User,
    locate: userOfPath,
    handle: async ({ use, resource }) => ({ body: await shown(use, resource) }),
  }),

  route({
    id: "updateUser",
    method: "PATCH",
    path: ofUser,
    summary: "Change a user",
    tag,
    scopes: ["admin"],
    status: [200],
    errors: ["HS_ALIAS_CLAIMED", "HS_CONFLICT"],
    body: UpdateUser,
    reply: User,
    locate: userOfPath,
    handle: async ({ use, body, resource }) => ({ body: await shown(use, await use.updateUser(resource, body)) }),
  }),

  route({
    id: "deleteUser",
    method: "DELETE",
    path: ofUser,
    summary: "Delete a user and his subscriptions",
    tag,
    scopes: ["admin"],
    status: [200],
    reply: OkReply,
    locate: userOfPath,
    handle: async ({ use, resource }) => {
      await use.deleteUser(resource);
      return { body: { ok: true as const } };
    },
  }),

  route({
    id: "registerSubscription",
    method: "POST",
    path: `${ofUser}/subscriptions`,
    summary: "Give a user a subscription; a known token moves here",
    tag,
    scopes: ["admin"],
    status: [201, 200],
    errors: ["HS_CONFLICT", "HS_QUOTA_EXCEEDED"],
    body: CreateSubscription,
    reply: Subscription,
    locate: userOfPath,
    repeatable: {
      show: async ({ use, resource: user }, id) =>
        subscriptionView(existing(await use.subscriptions.find(user.tenant_id, user.app_id, id), "subscription")),
    },
    handle: async ({ use, caller, body, resource }) => {
      await use.limits.registration(resource, body);
      const { row, isNew } = await use.registerSubscription(caller, resource, body);
      return { body: subscriptionView(row), status: isNew ? 201 : 200 };
    },
  }),

  route({
    id: "getSubscription",
    method: "GET",
    path: ofSubscription,
    summary: "Show a subscription",
    tag,
    scopes: ["admin"],
    status: [200],
    reply: Subscription,
    locate: subscriptionOfPath,
    handle: async ({ resource }) => ({ body: subscriptionView(resource) }),
  }),

  route({
    id: "updateSubscription",
    method: "PATCH",
    path: ofSubscription,
    summary: "Change a subscription",
    tag,
    scopes: ["admin"],
    status: [200],
    errors: ["HS_ALREADY_EXISTS", "HS_CONFLICT", "HS_QUOTA_EXCEEDED"],
    body: UpdateSubscription,
    reply: Subscription,
    locate: subscriptionOfPath,
    handle: async ({ use, caller, body, resource }) => {
      await use.limits.subscription(resource);
      return { body: subscriptionView(await use.updateSubscription(caller, resource, body)) };
    },
  }),

  route({
    id: "deleteSubscription",
    method: "DELETE",
    path: ofSubscription,
    summary: "Delete a subscription",
    tag,
    scopes: ["admin"],
    status: [200],
    reply: OkReply,
    locate: subscriptionOfPath,
    handle: async ({ use, resource }) => {
      await use.deleteSubscription(resource);
      return { body: { ok: true as const } };
    },
  }),
];
