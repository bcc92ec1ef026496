import type { Db } from "mongodb";
import type { Contact } from "../../channels/contacts.ts";
import { userCreated } from "../../domain/people/events.ts";
import { gather } from "../../runtime/batching/gather.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertMissing, retryConflicts } from "../mongo/duplicate.ts";
import { blankSubscription, blankUser } from "./made.ts";
import { subscriptionsNamed } from "./named.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscription-row.ts";
import { withCreated } from "./subscriptions.ts";
import { aliasKey, type UserRow, userCollection } from "./users.ts";

export type Contacts = ReturnType<typeof contacts>;

/** Somebody of whom an address is all that is known: the user, and a subscription for each of its channels. */
export type NewContact = { user: UserRow | null; subscriptions: SubscriptionRow[] };

const madeAtOnce = 500; // of one command

/** Until somebody without the subscription of their address is removed. */
const ownerlessMs = 60_000;
/** Commands that took longer may have been overtaken by that. */
const soonMs = ownerlessMs / 3;

/** People who are known by an address alone. */
export const contacts = (db: Db) => {
  const users = collectionOf<UserRow>(db, userCollection);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);

  const add = async (made: readonly NewContact[]): Promise<NewContact[]> => {
    const anonymous = made.flatMap(({ user }) => user ?? []);
    const keepUsers = () => retryConflicts(() => insertMissing(users, anonymous));
    const beganMs = performance.now();
    if (anonymous.length > 0) await keepUsers();
    const taken = await retryConflicts(() =>
      insertMissing(
        subscriptions,
        made.flatMap((one) => one.subscriptions),
      ),
    );
    if (anonymous.length > 0 && performance.now() - beganMs > soonMs) await keepUsers(); // those who are there stay
    const isLost = (one: NewContact): boolean => one.subscriptions.every(({ _id }) => taken.has(_id));
    const lost = made.filter(isLost).flatMap(({ user }) => user?._id ?? []);
    if (lost.length > 0) await users.deleteMany({ _id: { $in: lost } }); // another made the address at the same moment
    return made.flatMap((one) =>
      isLost(one) ? [] : [{ ...one, subscriptions: one.subscriptions.filter(({ _id }) => !taken.has(_id)) }],
    );
  };

  return {
    /** The subscriptions that the app has for these. */
    known: async (of: OfApp, wanted: readonly Contact[]): Promise<SubscriptionRow[]> => {
      const byChannel = Map.groupBy(wanted, ({ channel }) => channel);
      const found = await Promise.all(
        [...byChannel].map(([channel, named]) =>
          subscriptionsNamed(subscriptions, of, { channel, tokens: named.map(({ token }) => token) }),
        ),
      );
      return found.flat();
    },

    /**
     * Removes somebody who was made for an address, whose subscription has not come: what made them was killed in between.
     * False when they have one.
     */
    dropOwnerless: async ({ _id, app_id }: Pick<UserRow, "_id" | "app_id">): Promise<boolean> => {
      const one = { projection: { _id: 1 }, hint: "user" };
      if ((await subscriptions.findOne({ app_id, user_id: _id }, one)) !== null) return false;
      await users.deleteOne({ _id, ...asMade });
      return true;
    },

    /** Stores them, but for those whose address somebody else has made meanwhile; gives what it stored. */
    add: async (made: readonly NewContact[]): Promise<NewContact[]> => {
      const stored: NewContact[] = [];
      for (let from = 0; from < made.length; from += madeAtOnce)
        stored.push(...(await add(made.slice(from, from + madeAtOnce))));
      return stored;
    },
  };
};

/**
 * Stores contacts that many requests make at the same moment, each one of its own, by commands that they share. A command that
 * fails is not made again: it may have stored some of them.
 */
export const sharedContacts = (db: Db): Pick<Contacts, "add"> => {
  const { add } = contacts(db);
  const addOne = gather<NewContact, NewContact | null>({
    write: async (made) => {
      const stored = (await add(made)).flatMap((one) => one.subscriptions.map(({ _id }) => [_id, one] as const));
      const byId = new Map(stored);
      return made.map(({ subscriptions }) => subscriptions.flatMap(({ _id }) => byId.get(_id) ?? [])[0] ?? null);
    },
    most: sharedAtOnce,
    inFlight: 2,
    isOfTurn: true,
  });
  return { add: async (made) => (await Promise.all(made.map(addOne))).filter((one) => one !== null) };
};

const sharedAtOnce = 100;

/**
 * What is to be made of contacts that are not among the `known` ones. A number that is known on another channel is its owner's
 * there, too; every other address is an anonymous user's.
 */
export const newContacts = (
  of: OfApp,
  {
    wanted,
    known,
  }: { wanted: readonly Pick<SubscriptionRow, "channel" | "token">[]; known: readonly SubscriptionRow[] },
  idOf: (kind: "user" | "subscription") => string,
  now: Date,
): NewContact[] => {
  const isKnown = new Set(known.map(({ channel, token }) => `${channel} ${token}`));
  const missing = wanted.filter(({ channel, token }) => !isKnown.has(`${channel} ${token}`));
  const owners = new Map(known.map((row) => [row.token, row]));
  return [...Map.groupBy(missing, ({ token }) => token)].map(([token, places]) => {
    const owner = owners.get(token);
    const user = owner === undefined ? anonymous(of, idOf("user"), now) : null;
    const theirs = user ?? {
      _id: owner?.user_id ?? "",
      tenant_id: of.tenantId,
      app_id: of.appId,
      external_id: owner?.external_id ?? null,
    };
    const made = places.map(({ channel }) =>
      blankSubscription(idOf("subscription"), { user: theirs, channel, token, web: null }, now),
    );
    return { user, subscriptions: made.map(withCreated) };
  });
};

const anonymous = (of: OfApp, id: string, now: Date): UserRow => {
  const row = { ...blankUser(id, of, now), alias_keys: [aliasKey("user_id", id)], of_contact: true as const };
  return { ...row, outbox: [userCreated(row)], due_at: new Date(now.getTime() + ownerlessMs) };
};

const asMade = { of_contact: true as const, revision: 0 };

/** Whether somebody may have been left without the subscription of the address that they were made for. */
export const mayBeOwnerless = ({
  of_contact: isOfContact,
  revision,
  outbox,
}: Pick<UserRow, "of_contact" | "revision" | "outbox">): boolean =>
  isOfContact === asMade.of_contact &&
  revision === asMade.revision &&
  outbox.some(({ type }) => type === "user.created");
