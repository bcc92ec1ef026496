import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import { forgetActivities } from "#core/storage/live-activities/forget.ts";
import { manyPeople } from "#core/storage/people/many.ts";
import { merges } from "#core/storage/people/merge.ts";
import { subscriptions as subscriptionStore } from "#core/storage/people/subscriptions.ts";
import { users as userStore } from "#core/storage/people/users.ts";
import { suppressionKeys } from "#core/storage/suppressions/keys.ts";
import { optOuts } from "#core/storage/suppressions/opt-outs.ts";
import { suppressions } from "#core/storage/suppressions/suppressions.ts";
import { deletions } from "#core/storage/warehouse/deletions.ts";
import { removals as removalStore } from "#core/storage/work/removals.ts";
import { billableCount } from "../limits/billable-count.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { requireSubscribers } from "../limits/subscriber-quota.ts";
import type { PeopleOutbox } from "../publishing/people-outbox.ts";
import { upsertUsers } from "./batch/upsert-users.ts";
import { countSession } from "./count-session.ts";
import { deleteSubscription } from "./delete-subscription.ts";
import { deleteUser } from "./delete-user.ts";
import { followStatus } from "./follow-status.ts";
import { mergeUsers } from "./merge-users.ts";
import { moveSubscription } from "./move-subscription.ts";
import { registerSubscription, requireRegistrable } from "./register-subscription.ts";
import { subscriptionLimits } from "./subscription-limits.ts";
import { updateSubscription } from "./update-subscription.ts";
import { updateUser } from "./update-user.ts";
import { upsertUser } from "./upsert-user.ts";

export type People = ReturnType<typeof peopleUseCases>;

export type PeoplePlatform = {
  db: Db;
  secrets: Pick<KeyRing, "seal" | "open">;
  clock: Clock;
  limit: NarrowLimit;
  outboxes: { people: PeopleOutbox };
};

/** What the REST interface does to users and subscriptions. */
export const peopleUseCases = ({ db, secrets, clock, limit, outboxes }: PeoplePlatform) => {
  const [users, subscriptions, removals] = [userStore(db), subscriptionStore(db), removalStore(db)];
  const countBillable = billableCount(db, clock);
  const publish = outboxes.people;
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
    deleted: deletions(db),
    forget: forgetActivities(db),
    publish: publish.removal,
    clock,
  });
  const limits = subscriptionLimits(limit);
  const register = registerSubscription({ ...ofDevices, remove: removeSubscription });
  const upsertOne = upsertUser({
    users,
    nameOwner: subscriptions.nameOwner,
    limit: limits.registration,
    requireRegistrable: requireRegistrable(ofDevices),
    register,
    publish: publish.user,
    clock,
  });
  return {
    now: clock.now,
    requireSubscribers: ofDevices.requireSubscribers,
    followStatus: ofDevices.followStatus,
    findUser: users.find,
    subscriptions,
    limits,
    upsertUser: upsertOne,
    upsertUsers: upsertUsers({ ...ofDevices, many: manyPeople(db), upsertOne, countBillable, limits, publish, clock }),
    updateUser: updateUser({ users, nameOwner: subscriptions.nameOwner, clock }),
    countSession: countSession({ users, clock }),
    deleteUser: deleteUser({ removals, users, subscriptions, publish: publish.removal, clock }),
    mergeUsers: mergeUsers({
      ...ofDevices,
      merges: merges(db),
      suppressions: suppressions(db),
      subjectsOf,
      remove: removeSubscription,
      publish: publish.user,
    }),
    registerSubscription: register,
    updateSubscription: updateSubscription(ofDevices),
    moveSubscription: moveSubscription({ subscriptions, remove: removeSubscription, clock }),
    deleteSubscription: removeSubscription,
  };
};
