import type { CallbackQueue } from "#core/queue/callbacks.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { inAppMessages } from "#core/storage/in-app-messages/in-app-messages.ts";
import { knownDeliveries } from "#core/storage/messages/known.ts";
import { sharedContacts } from "#core/storage/people/contacts.ts";
import { devices as deviceStore } from "#core/storage/people/devices.ts";
import { sessionMonths } from "#core/storage/people/session-months.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { users } from "#core/storage/people/users.ts";
import { cached } from "#core/storage/settings/cached.ts";
import { suppressionKeys } from "#core/storage/suppressions/keys.ts";
import { preferences } from "#core/storage/suppressions/preferences.ts";
import { suppressions } from "#core/storage/suppressions/suppressions.ts";
import { suppressionWishes } from "#core/storage/suppressions/wish.ts";
import { type EventPlatform, eventUseCases } from "../events/use-cases.ts";
import { type PeoplePlatform, peopleUseCases } from "../people/use-cases.ts";
import { addAddress } from "./addresses.ts";
import { publishOfDevice } from "./events.ts";
import { logIn, logOut } from "./login.ts";
import { ofPerson, ownerOf } from "./person.ts";
import { personPreferences } from "./preferences.ts";
import { receiveReceipts } from "./receipts.ts";
import { registerDevice } from "./register.ts";
import { registerPerson } from "./register-person.ts";
import { reportSession } from "./sessions.ts";
import { updateDevice } from "./update.ts";

export type DeviceUse = ReturnType<typeof deviceUseCases>;

export type DevicePlatform = PeoplePlatform & EventPlatform & { callbacks: CallbackQueue };

const configMs = 10_000; // every device asks for the config as it starts

/** What devices do to their subscriptions. */
export const deviceUseCases = (platform: DevicePlatform) => {
  const { db, clock, limit, outboxes, callbacks, secrets } = platform;
  const people = peopleUseCases(platform);
  const { subscriptions, requireSubscribers, followStatus, deleteSubscription } = people;
  const devices = deviceStore(db);
  const wishes = suppressionWishes(db);
  const subjectsOf = suppressionKeys(db, secrets, clock);
  const login = { ...people, users: users(db), devices, publish: outboxes.people.user, clock };
  const inApp = cached({ load: inAppMessages(db).isAnyActive, ttlMs: configMs, max: 10_000, clock });
  const [logInDevice, person] = [logIn(login), ofPerson(login)];
  const register = registerDevice({
    devices,
    contacts: sharedContacts(db),
    requireSubscribers,
    publish: (user, row) => {
      if (user !== null) outboxes.people.user(user);
      outboxes.people.subscription(row);
    },
    clock,
  });
  return {
    limit,
    hasInApp: ({ _id }: AppRow): Promise<boolean> => inApp.get(_id),
    logIn: logInDevice,
    logOut: logOut(login),
    person,
    preferences: personPreferences({
      ...login,
      preferences: preferences({ suppressions: suppressions(db), wishes, subjectsOf, clock }),
      wishes,
      subjectsOf,
    }),
    register: registerPerson({ register, logIn: logInDevice, update: person.update }),
    update: updateDevice({
      subscriptions,
      devices,
      requireSubscribers,
      followStatus,
      publish: outboxes.people.subscription,
      clock,
    }),
    addAddress: addAddress({ ...people, users: login.users }),
    erase: async (own: SubscriptionRow): Promise<void> =>
      people.deleteUser(await ownerOf(login, own), { isErased: true }),
    remove: deleteSubscription,
    session: reportSession({
      countSession: people.countSession,
      seen: devices.seen,
      months: sessionMonths(db),
      users: login.users,
      limit,
      clock,
    }),
    receipts: receiveReceipts({ known: knownDeliveries(db), keep: callbacks.keep, clock }),
    events: publishOfDevice({ publish: eventUseCases(platform).publish, clock }),
  };
};
