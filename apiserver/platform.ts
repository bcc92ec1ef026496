import type { Clock } from "#core/domain/clock.ts";
import { NotFound } from "#core/errors.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Directory } from "#core/storage/directory.ts";
import type { DeliveryList } from "#core/storage/messages/delivery-list.ts";
import type { MessageRow, Messages } from "#core/storage/messages/messages.ts";
import type { Targets } from "#core/storage/messages/targets.ts";
import type { Usage } from "#core/storage/messages/usage.ts";
import type { Audience, SubscriptionCounts } from "#core/storage/people/subscription-counts.ts";
import type { Subscriptions } from "#core/storage/people/subscriptions.ts";
import type { UserRow, Users } from "#core/storage/people/users.ts";
import { cached } from "#core/storage/settings/cached.ts";
import type { Removals } from "#core/storage/work/removals.ts";
import type { Caller } from "./access/caller.ts";
import { publishEvents } from "./events/publish.ts";
import { type OnceDeps, once } from "./http/once.ts";
import type { Cursors } from "./http/pages.ts";
import { limits } from "./limits/limits.ts";
import type { NarrowLimit } from "./limits/narrow-limit.ts";
import { quota } from "./limits/quota.ts";
import { requireSubscribers } from "./limits/subscriber-quota.ts";
import type { ActivityTypeUseCases } from "./live-activities/use-cases.ts";
import { accept } from "./messages/accept.ts";
import { audienceSize } from "./messages/audience-size.ts";
import { cancel } from "./messages/cancel.ts";
import { estimate } from "./messages/estimate.ts";
import { deleteSubscription } from "./people/delete-subscription.ts";
import { deleteUser } from "./people/delete-user.ts";
import { registerSubscription } from "./people/register-subscription.ts";
import { addressOf } from "./people/subscription-checks.ts";
import { updateSubscription } from "./people/update-subscription.ts";
import { updateUser } from "./people/update-user.ts";
import { upsertUser } from "./people/upsert-user.ts";
import type { EventStore } from "./publishing/event-store.ts";
import type { PeopleOutbox } from "./publishing/people-outbox.ts";
import type { WebhookUseCases } from "./webhooks/use-cases.ts";

export type UseCaseDeps = {
  directory: Pick<Directory, "app">;
  messages: Messages;
  deliveries: DeliveryList;
  users: Users;
  subscriptions: Subscriptions;
  removals: Removals;
  publish: PeopleOutbox;
  targets: Targets;
  counts: SubscriptionCounts;
  usage: Usage;
  /** Ids of a tenant's apps. */
  appIdsOf: (tenantId: string) => Promise<string[]>;
  ring: (row: MessageRow) => void;
  keepEvents: EventStore["keep"];
  countEvents: (outcome: "accepted" | "duplicate" | "refused", n: number) => void;
  countAccepted: (outcome: "created" | "replayed") => void;
  cursors: Cursors;
  limit: NarrowLimit;
  webhooks: WebhookUseCases;
  activityTypes: ActivityTypeUseCases;
  firstDayMessages: number;
  once: Omit<OnceDeps, "clock">;
  clock: Clock;
  log: Log;
};

export type UseCases = ReturnType<typeof useCases>;

const countMs = 10_000; // counts over a whole app or tenant may be this old

/** What the handlers can ask for: every use case with what it needs. */
export const useCases = (deps: UseCaseDeps) => {
  const { messages, users, subscriptions, removals, publish, targets, usage, clock, ring } = deps;
  const promises = quota({ usage, stored: messages.stored, firstDayMessages: deps.firstDayMessages });
  const nameOwner = ({ tenant_id: tenantId, app_id: appId, _id, external_id: externalId }: UserRow): Promise<void> =>
    subscriptions.nameOwner(tenantId, appId, _id, externalId);
  const remove = deleteSubscription({ removals, subscriptions, publish: publish.removal, clock });
  const subscribers = requireSubscribers({ subscriptions, countBillable: countBillable(deps) });
  const ofDevices = { subscriptions, requireSubscribers: subscribers, publish: publish.subscription, clock };
  const register = registerSubscription({ ...ofDevices, remove });
  const estimateAudience = estimate({ targets, countAll: countAll(deps) });
  return {
    clock,
    cursors: deps.cursors,
    limits: limits(deps.limit),
    messages,
    deliveries: deps.deliveries,
    users,
    subscriptions,
    webhooks: deps.webhooks,
    activityTypes: deps.activityTypes,
    app: findApp(deps.directory),
    once: once({ ...deps.once, clock }),
    accept: accept({ messages, estimate: estimateAudience, quota: promises, ring, count: deps.countAccepted, clock }),
    publishEvents: publishEvents({ keep: deps.keepEvents, count: deps.countEvents, clock }),
    cancel: cancel({ messages, quota: promises, clock }),
    upsertUser: upsertUser({
      users,
      nameOwner,
      register,
      checkSubscription: addressOf,
      publish: publish.user,
      clock,
    }),
    updateUser: updateUser({ users, nameOwner, clock }),
    deleteUser: deleteUser({ removals, users, subscriptions, publish: publish.removal, clock }),
    registerSubscription: register,
    updateSubscription: updateSubscription(ofDevices),
    deleteSubscription: remove,
  };
};

/** An app that the caller may use; another's, and one that the key is not for, does not exist. */
const findApp =
  ({ app }: Pick<Directory, "app">) =>
  async ({ tenant, key }: Caller, id: string): Promise<AppRow> => {
    const isOfKey = key.app_ids === null || key.app_ids.includes(id);
    const row = isOfKey ? await app(id) : null;
    if (row === null || row.tenant_id !== tenant._id) throw new NotFound("app");
    return row;
  };

const countAll = (deps: UseCaseDeps) => {
  const { clock } = deps;
  const sizeOf = audienceSize(deps);
  const kept = cached({
    load: (key) => sizeOf(JSON.parse(key) as Audience), // sound: our own text, just below
    ttlMs: countMs,
    max: 10_000,
    clock,
  });
  return (audience: Audience): Promise<number> => kept.get(JSON.stringify(audience));
};

const countBillable = ({ counts, appIdsOf, clock }: UseCaseDeps) => {
  const kept = cached({
    load: async (key) => {
      const [tenantId, most] = JSON.parse(key) as [string, number]; // sound: as above
      return counts.billable(tenantId, await appIdsOf(tenantId), most);
    },
    ttlMs: countMs,
    max: 10_000,
    clock,
  });
  return (tenantId: string, most: number): Promise<number> => kept.get(JSON.stringify([tenantId, most]));
};
