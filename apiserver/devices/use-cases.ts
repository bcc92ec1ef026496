import { contacts } from "#core/storage/people/contacts.ts";
import { devices as deviceStore } from "#core/storage/people/devices.ts";
import { type PeoplePlatform, peopleUseCases } from "../people/use-cases.ts";
import { registerDevice } from "./register.ts";
import { updateDevice } from "./update.ts";

export type DeviceUse = ReturnType<typeof deviceUseCases>;

/** What devices do to their subscriptions. */
export const deviceUseCases = (platform: PeoplePlatform) => {
  const { db, clock, limit, outboxes } = platform;
  const { subscriptions, requireSubscribers, followStatus, deleteSubscription } = peopleUseCases(platform);
  const devices = deviceStore(db);
  return {
    limit,
    register: registerDevice({
      subscriptions,
      devices,
      contacts: contacts(db),
      requireSubscribers,
      publish: (user, row) => {
        if (user !== null) outboxes.people.user(user);
        outboxes.people.subscription(row);
      },
      clock,
    }),
    update: updateDevice({
      subscriptions,
      devices,
      requireSubscribers,
      followStatus,
      publish: outboxes.people.subscription,
      clock,
    }),
    remove: deleteSubscription,
  };
};
