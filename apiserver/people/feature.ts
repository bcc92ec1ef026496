import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import { OkReply } from "#core/schema/json/error.ts";
import { CreateSubscription, Subscription, UpdateSubscription } from "#core/schema/people/subscription.ts";
import { UpdateUser, UpsertUser, User } from "#core/schema/people/user.ts";
import { apps as appStore } from "#core/storage/apps/apps.ts";
import { forgetActivities } from "#core/storage/live-activities/forget.ts";
import { subscriptionCounts } from "#core/storage/people/subscription-counts.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { subscriptions as subscriptionStore } from "#core/storage/people/subscriptions.ts";
import { type UserRow, users as userStore } from "#core/storage/people/users.ts";
import { subscriptionView, userView } from "#core/storage/people/views.ts";
import { suppressionKeys } from "#core/storage/suppressions/keys.ts";
import { optOuts } from "#core/storage/suppressions/opt-outs.ts";
import { suppressions } from "#core/storage/suppressions/suppressions.ts";
import { removals as removalStore } from "#core/storage/work/removals.ts";
import { feature } from "../http/feature.ts";
import { appOfPath, existing } from "../http/locate.ts";
import { done, type Located, routeOf } from "../http/route.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { recentCounts } from "../limits/recent-counts.ts";
import { type Billable, requireSubscribers } from "../limits/subscriber-quota.ts";
import type { PeopleOutbox } from "../publishing/people-outbox.ts";
import { deleteSubscription } from "./delete-subscription.ts";
import { deleteUser } from "./delete-user.ts";
import { followStatus } from "./follow-status.ts";
import { docs } from "./openapi.ts";
import { registerSubscription, requireRegistrable } from "./register-subscription.ts";
import { addressOf } from "./subscription-checks.ts";
import { subscriptionLimits } from "./subscription-limits.ts";
import { updateSubscription } from "./update-subscription.ts";
import { updateUser } from "./update-user.ts";
import { checkUpsert, upsertUser } from "./upsert-user.ts";

type PeoplePlatform = {
  db: Db;
  secrets: Pick<KeyRing, "seal" | "open">;
  clock: Clock;
  limit: NarrowLimit;
  outboxes: { people: PeopleOutbox };
};

const mostApps = 10_000; // of one tenant, for counting its subscribers

const make = ({ db, secrets, clock, limit, outboxes }: PeoplePlatform) => {
  const [users, subscriptions, removals] = [userStore(db), subscriptionStore(db), removalStore(db)];
  const [counts, apps] = [subscriptionCounts(db), appStore(db)];
  const countBillable = recentCounts(async ({ tenantId, most }: Billable): Promise<number> => {
    const owned = await apps.ofTenant(tenantId, mostApps);
    const ids = owned.map(({ _id }) => _id);
    return counts.billable(ids, most);
  }, clock);
  const publish = outboxes.people;
  const nameOwner = ({ tenant_id: tenantId, app_id: appId, _id, external_id: externalId }: UserRow): Promise<void> =>
    subscriptions.nameOwner(tenantId, appId, _id, externalId);
  const subjectsOf = suppressionKeys(db, secrets, clock);
  const ofDevices = {
    subscriptions,
    requireSubscribers: requireSubscribers({ subscriptions, countBillable }),
    publish: publish.subscription,
    followStatus: followStatus(optOuts({ suppressions: suppressions(db), subjectsOf, clock })),
    clock,
  };
  const removeSubscription = deleteSubscription({
    removals,
    subscriptions,
    forget: forgetActivities(db),
    publish: publish.removal,
    clock,
  });
  const limits = subscriptionLimits(limit);
  const register = registerSubscription({ ...ofDevices, remove: removeSubscription });
  return {
    findUser: users.find,
    subscriptions,
    limits,
    upsertUser: upsertUser({
      users,
      nameOwner,
      limit: limits.registration,
      requireRegistrable: requireRegistrable(ofDevices),
      register,
      publish: publish.user,
      clock,
    }),
    updateUser: updateUser({ users, nameOwner, clock }),
    deleteUser: deleteUser({ removals, users, subscriptions, publish: publish.removal, clock }),
    registerSubscription: register,
    updateSubscription: updateSubscription(ofDevices),
    deleteSubscription: removeSubscription,
  };
};

type Use = ReturnType<typeof make>;

const ofApp = "/v1/apps/{appId}";
const ofUser = `${ofApp}/users/by/{label}/{id}`;
const ofSubscription = `${ofApp}/subscriptions/{subscriptionId}`;

const route = routeOf<Use>({ tag: "Users and subscriptions", scopes: ["admin"] });

/** The user that the path names by one of their ids. */
const userOfPath = async (located: Located<Use>): Promise<UserRow> => {
  const app = await appOfPath(located);
  const { label = "", id = "" } = located.params;
  return existing(await located.use.findUser(app.tenant_id, app._id, label, id), "user");
};

/** The subscription that the path names. */
const subscriptionOfPath = async (located: Located<Use>): Promise<SubscriptionRow> => {
  const { tenant_id: tenantId, _id: appId } = await appOfPath(located);
  const id = located.params["subscriptionId"] ?? "";
  return existing(await located.use.subscriptions.find(tenantId, appId, id), "subscription");
};

const shown = async (use: Use, user: UserRow): Promise<User> =>
  userView(user, await use.subscriptions.ofUser(user.tenant_id, user.app_id, user._id));

const routes = [
  route({
    id: "upsertUser",
    method: "POST",
    path: `${ofApp}/users`,
    summary: "Make a user, or update the one that has one of these ids",
    status: [201, 200],
    errors: ["HS_ALIAS_CLAIMED", "HS_CONFLICT", "HS_QUOTA_EXCEEDED"],
    body: UpsertUser,
    reply: User,
    locate: appOfPath,
    repeatable: {
      check: ({ body }) => void checkUpsert(body),
      show: async ({ use, resource: app }, id) =>
        shown(use, existing(await use.findUser(app.tenant_id, app._id, "user_id", id), "user")),
    },
    handle: async ({ use, caller, body, resource: app, newId }) => {
      const { user, isNew } = await use.upsertUser({ caller, app, body, id: newId("user") });
      return { body: await shown(use, user), status: isNew ? 201 : 200 };
    },
  }),

  route({
    id: "getUser",
    method: "GET",
    path: ofUser,
    summary: "Show a user by one of their ids",
    reply: User,
    locate: userOfPath,
    handle: async ({ use, resource }) => ({ body: await shown(use, resource) }),
  }),

  route({
    id: "updateUser",
    method: "PATCH",
    path: ofUser,
    summary: "Change a user",
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
    summary: "Delete a user and their subscriptions",
    reply: OkReply,
    locate: userOfPath,
    handle: ({ use, resource }) => done(use.deleteUser(resource)),
  }),

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
        subscriptionView(existing(await use.subscriptions.find(user.tenant_id, user.app_id, id), "subscription")),
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
    handle: async ({ use, caller, body, resource }) => {
      await use.limits.change(resource);
      return { body: subscriptionView(await use.updateSubscription(caller, resource, body)) };
    },
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
];

/** Users and their subscriptions. */
export const people = feature({ make, routes, ...docs });
