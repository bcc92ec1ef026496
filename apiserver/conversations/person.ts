import { checkAddress } from "#core/channels/addresses.ts";
import type { Clock } from "#core/domain/clock.ts";
import { newId } from "#core/domain/ids.ts";
import { invalid } from "#core/errors.ts";
import type { CreateConversation } from "#core/schema/conversations/conversation.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type OfApp, ofApp } from "#core/storage/mongo/collection.ts";
import { type Contacts, newContacts } from "#core/storage/people/contacts.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { MakeContacts } from "../accepting/make-contacts.ts";
import type { Caller } from "../access/caller.ts";

export type PersonDeps = MakeContacts & {
  contacts: Pick<Contacts, "known">;
  subscriptionsOf: (ids: readonly string[]) => Promise<SubscriptionRow[]>;
  /** The subscriptions on a channel of the user whom an app knows by an id of its own. */
  subscriptionsNamed: (of: OfApp, externalId: string, channel: string) => Promise<SubscriptionRow[]>;
  clock: Clock;
};

export type PersonOf = ReturnType<typeof personOf>;

/** `make` stores somebody of whom an address is all that is known; null where they are there. */
export type NamedPerson = { row: SubscriptionRow; make: (() => Promise<void>) | null };

type Asked = { caller: Caller; app: AppRow; body: CreateConversation };

/** The subscription of whom a body names. @throws ValidationError; AppError HS_QUOTA_EXCEEDED */
export const personOf =
  (deps: PersonDeps) =>
  async (asked: Asked): Promise<NamedPerson> => {
    const { subscription_id: id, external_id: externalId, contact_address: address } = asked.body;
    const given = [id, externalId, address].filter((one) => one !== undefined);
    if (given.length !== 1)
      throw invalid("contact_address", "exactly one of contact_address, external_id and subscription_id is required");
    if (id !== undefined) return { row: await subscribed(deps, asked, id), make: null };
    if (externalId !== undefined) return { row: await ofUser(deps, asked, externalId), make: null };
    return atAddress(deps, asked, address ?? "");
  };

const subscribed = async (deps: PersonDeps, { app, body }: Asked, id: string): Promise<SubscriptionRow> => {
  const [row] = await deps.subscriptionsOf([id]);
  if (row?.app_id !== app._id || row.channel !== body.channel)
    throw invalid("subscription_id", `is not a subscription of the app's on ${body.channel}`);
  return row;
};

/** The one that gets messages, the latest of several. */
const ofUser = async (deps: PersonDeps, { app, body }: Asked, externalId: string): Promise<SubscriptionRow> => {
  const all = await deps.subscriptionsNamed(ofApp(app), externalId, body.channel);
  const latest = all.toSorted((a, b) => (a._id < b._id ? 1 : -1));
  const row = latest.find(({ status }) => status === "subscribed") ?? latest[0];
  if (row === undefined) throw invalid("external_id", `nobody of this id has a subscription on ${body.channel}`);
  return row;
};

const atAddress = async (deps: PersonDeps, { caller, app, body }: Asked, given: string): Promise<NamedPerson> => {
  const checked = checkAddress(body.channel, given);
  if (!checked.ok) throw invalid("contact_address", checked.problem);
  const [of, token] = [ofApp(app), checked.address];
  const wanted = [{ channel: body.channel, token }];
  const [known] = await deps.contacts.known(of, wanted);
  if (known !== undefined) return { row: known, make: null };
  const others = (["sms", "whatsapp", "rcs"] as const).filter((channel) => channel !== body.channel);
  const elsewhere = await deps.contacts.known(
    of,
    others.map((channel) => ({ channel, token })),
  );
  const now = deps.clock.now();
  const made = newContacts(of, { wanted, known: elsewhere }, (kind) => newId(kind, now), now);
  const row = made[0]?.subscriptions[0];
  if (row === undefined) throw invalid("contact_address", "cannot be written to");
  await deps.requireRoom(caller, made);
  return { row, make: () => deps.makeContacts(made) };
};
