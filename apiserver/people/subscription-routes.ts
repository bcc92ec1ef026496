import { checkAddress } from "#core/channels/addresses.ts";
import { subscriptionView } from "#core/domain/people/views.ts";
import { invalid, NotFound } from "#core/errors.ts";
import { OkReply } from "#core/schema/json/error.ts";
import { UserReference } from "#core/schema/people/identity.ts";
import { CreateSubscription, Subscription, UpdateSubscription } from "#core/schema/people/subscription.ts";
import { channels } from "#core/schema/vocabulary/channels.ts";
import { ofApp, ofRow } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Caller } from "../access/caller.ts";
import { appOfPath, existing } from "../http/locate.ts";
import { done, type Located } from "../http/route.ts";
import { base, ofUser, route, userOfPath } from "./paths.ts";
import { addressOf } from "./subscription-checks.ts";
import type { People } from "./use-cases.ts";

const ofSubscription = `${base}/subscriptions/{subscriptionId}`;
const byToken = `${base}/subscriptions_by_token/{channel}/{token}`;

/** The subscription that the path names. */
const subscriptionOfPath = async (located: Located<People>): Promise<SubscriptionRow> => {
  const of = ofApp(await appOfPath(located));
  const id = located.params["subscriptionId"] ?? "";
  return existing(await located.use.subscriptions.find(of, id), "subscription");
};

/** The subscription whose token, in any spelling that its channel admits, the path has. */
const subscriptionOfToken = async (located: Located<People>): Promise<SubscriptionRow> => {
  const of = ofApp(await appOfPath(located));
  const { token = "" } = located.params;
  const channel = channels.find((one) => one === located.params["channel"]);
  if (channel === undefined) throw new NotFound("subscription");
  const checked = checkAddress(channel, token);
  if (!checked.ok) throw new NotFound("subscription");
  return existing(await located.use.subscriptions.findByToken(of, channel, checked.address), "subscription");
};

type ToChange = { use: People; caller: Caller; body: UpdateSubscription; resource: SubscriptionRow };

const changeSubscription = async ({ use, caller, body, resource }: ToChange): Promise<{ body: Subscription }> => {
  await use.limits.change(resource);
  return { body: subscriptionView(await use.updateSubscription(caller, resource, body)) };
};

/** What can be asked of subscriptions. */
export const subscriptionRoutes = [
  route({
    id: "registerSubscription",
    method: "POST",
    path: `${ofUser}/subscriptions`,
    summary: "Give a user a subscription; a known token moves here",
    status: [201, 200],
    errors: ["HS_CONFLICT", "HS_QUOTA_EXCEEDED"],
    body: CreateSubscription,
    reply: Subscription,
    locate: userOfPath,
    repeatable: {
      check: ({ body }) => void addressOf(body),
      show: async ({ use, resource: user }, id) =>
        subscriptionView(existing(await use.subscriptions.find(ofRow(user), id), "subscription")),
    },
    handle: async ({ use, caller, body, resource }) => {
      await use.limits.registration(resource.app_id, addressOf(body));
      const { row, isNew } = await use.registerSubscription(caller, resource, body);
      return { body: subscriptionView(row), status: isNew ? 201 : 200 };
    },
  }),

  route({
    id: "getSubscription",
    method: "GET",
    path: ofSubscription,
    summary: "Show a subscription",
    reply: Subscription,
    locate: subscriptionOfPath,
    handle: async ({ resource }) => ({ body: subscriptionView(resource) }),
  }),

  route({
    id: "updateSubscription",
    method: "PATCH",
    path: ofSubscription,
    summary: "Change a subscription",
    errors: ["HS_ALREADY_EXISTS", "HS_CONFLICT", "HS_QUOTA_EXCEEDED"],
    body: UpdateSubscription,
    reply: Subscription,
    locate: subscriptionOfPath,
    handle: changeSubscription,
  }),

  route({
    id: "deleteSubscription",
    method: "DELETE",
    path: ofSubscription,
    summary: "Delete a subscription",
    reply: OkReply,
    locate: subscriptionOfPath,
    handle: ({ use, resource }) => done(use.deleteSubscription(resource)),
  }),

  route({
    id: "moveSubscription",
    method: "PATCH",
    path: `${ofSubscription}/owner`,
    summary: "Give a subscription to another user",
    errors: ["HS_CONFLICT"],
    body: UserReference,
    reply: Subscription,
    locate: subscriptionOfPath,
    handle: async ({ use, body: { label, id }, resource: found }) => {
      await use.limits.change(found);
      const user = await use.findUser(ofRow(found), label, id);
      if (user === null) throw invalid("id", "is no user's under this label");
      return { body: subscriptionView(await use.moveSubscription(found, user)) };
    },
  }),

  route({
    id: "getSubscriptionByToken",
    method: "GET",
    path: byToken,
    summary: "Show the subscription that has a token",
    reply: Subscription,
    locate: subscriptionOfToken,
    handle: async ({ resource }) => ({ body: subscriptionView(resource) }),
  }),

  route({
    id: "updateSubscriptionByToken",
    method: "PATCH",
    path: byToken,
    summary: "Change the subscription that has a token",
    errors: ["HS_ALREADY_EXISTS", "HS_CONFLICT", "HS_QUOTA_EXCEEDED"],
    body: UpdateSubscription,
    reply: Subscription,
    locate: subscriptionOfToken,
    handle: changeSubscription,
  }),
];
