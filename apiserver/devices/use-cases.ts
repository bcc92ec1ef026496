import type { CallbackQueue } from "#core/queue/callbacks.ts";
import { knownMessages } from "#core/storage/messages/known.ts";
import { sharedContacts } from "#core/storage/people/contacts.ts";
import { devices as deviceStore } from "#core/storage/people/devices.ts";
import { users } from "#core/storage/people/users.ts";
import { type EventPlatform, eventUseCases } from "../events/use-cases.ts";
import { type PeoplePlatform, peopleUseCases } from "../people/use-cases.ts";
import { publishOfDevice } from "./events.ts";
import { logIn, logOut } from "./login.ts";
import { receiveReceipts } from "./receipts.ts";
import { registerDevice } from "./register.ts";
import { updateDevice } from "./update.ts";

export type DeviceUse = ReturnType<typeof deviceUseCases>;

export type DevicePlatform = PeoplePlatform & EventPlatform & { callbacks: CallbackQueue };

/** What devices do to their subscriptions. */
export const deviceUseCases = (platform: DevicePlatform) => {
  const { db, clock, limit, outboxes, callbacks } = platform;
  const people = peopleUseCases(platform);
  const { subscriptions, requireSubscribers, followStatus, deleteSubscription } = people;
  const devices = deviceStore(db);
  const login = { ...people, users: users(db), devices, publish: outboxes.people.user, clock };
  return {
    limit,
    logIn: logIn(login),
    logOut: logOut(login),
    register: registerDevice({
      subscriptions,
      devices,
      contacts: sharedContacts(db),
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
    receipts: receiveReceipts({ known: knownMessages(db), keep: callbacks.keep, clock }),
    events: publishOfDevice({ publish: eventUseCases(platform).publish, clock }),
  };
};
