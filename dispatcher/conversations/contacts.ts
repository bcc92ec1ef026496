import type { Contact } from "#core/channels/contacts.ts";
import { newId } from "#core/domain/ids.ts";
import { type Contacts, type NewContact, newContacts } from "#core/storage/people/contacts.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { withCreated } from "#core/storage/people/subscriptions.ts";
import type { Arrival } from "./arrival.ts";
import type { ReceiveDeps } from "./receive.ts";

export type SenderDeps = {
  contacts: Pick<Contacts, "known" | "add">;
  /** Publishes the events of people who were made, without being waited for. */
  publish: (made: readonly NewContact[]) => void;
};

const attempts = 3; // each lost to another who made the same people, or removed them

/**
 * The subscriptions of whoever wrote. A stranger becomes an anonymous user with a subscription, also above what the plan
 * admits: a customer who writes is never lost. Source: docs/reference/callbacks.md#strangers.
 */
export const sendersOf =
  ({ contacts, publish }: SenderDeps): ReceiveDeps["contactsOf"] =>
  async (of, arrivals, now) => {
    const all = arrivals.map(({ channel, message: { address: token } }) => ({ channel, token }));
    const wanted = [...new Map(all.map((one) => [`${one.channel} ${one.token}`, one])).values()];
    let known = await contacts.known(of, wanted);
    for (let attempt = 0; attempt < attempts && known.length < wanted.length; attempt++) {
      const have = new Set(known.map((row) => `${row.channel} ${row.token}`));
      const missing = wanted.filter(({ channel, token }) => !have.has(`${channel} ${token}`));
      const elsewhere = await contacts.known(of, missing.flatMap(otherPlaces));
      const made = newContacts(of, { wanted: missing, known: elsewhere }, (kind) => newId(kind, now), now);
      publish(await contacts.add(made.map((one) => withWishes(one, arrivals))));
      known = await contacts.known(of, wanted);
    }
    return new Map(known.map((row): [string, SubscriptionRow] => [`${row.channel} ${row.token}`, row]));
  };

/** Whoever says STOP with their first message is no subscriber for a moment. */
const withWishes = ({ user, subscriptions }: NewContact, arrivals: readonly Arrival[]): NewContact => ({
  user,
  subscriptions: subscriptions.map((row) => {
    const words = arrivals.filter(
      ({ channel, message: { address, word } }) =>
        channel === row.channel && address === row.token && (word === "stop" || word === "start"),
    );
    const last = words.toSorted((a, b) => a.message.at.getTime() - b.message.at.getTime()).at(-1)?.message;
    if (last?.word !== "stop") return row;
    const said = { status: "unsubscribed", status_reason: "carrier_opt_out", unsubscribed_at: last.at } as const;
    return withCreated({ ...row, ...said, outbox: [] });
  }),
});

/** Where else somebody may be known under an address: a number is one person's on all its channels. */
const otherPlaces = ({ channel, token }: Contact): Contact[] =>
  channel === "email" ? [] : numberChannels.filter((one) => one !== channel).map((one) => ({ channel: one, token }));

const numberChannels = ["sms", "whatsapp", "rcs"] as const;
