import { LRUCache } from "lru-cache";
import { atMostEntries } from "#core/domain/at-most-entries.ts";
import type { Clock } from "#core/domain/clock.ts";
import { placeOf } from "#core/domain/conversations/conversation.ts";
import { type ConversationRules, isCurrent } from "#core/domain/conversations/receive.ts";
import { Unavailable } from "#core/errors.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { Arrivals } from "#core/storage/conversations/arrivals.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { type Arrival, arrivalId, type Making, type Prepared, placeOfArrival, withArrivals } from "./arrival.ts";
import { receivedEvents } from "./events.ts";

export type ReceiveDeps = {
  arrivals: Arrivals;
  /** The subscription of each sender, by channel and address; who is not known is made. */
  contactsOf: (of: OfApp, arrivals: readonly Arrival[], now: Date) => Promise<ReadonlyMap<string, SubscriptionRow>>;
  /** Begins the sessions of who wrote on WhatsApp: whoever hears of a message may answer it at once. */
  beginSessions: (of: OfApp, arrivals: readonly Prepared[], making: Pick<Making, "now" | "rules">) => Promise<void>;
  /** What messages answer, by their own ids. */
  answeredBy: (of: OfApp, prepared: readonly Prepared[], now: Date) => Promise<Answered>;
  publish: (tenantId: string, events: readonly EventEnvelope[]) => Promise<boolean>;
  clock: Clock;
};

export type Answered = ReadonlyMap<string, string>;

/** Whether the messages may have been received in part before, and how conversations of the app begin and end. */
export type Receiving = { isRepeated: boolean; rules: ConversationRules };

const mostAtOnce = 50; // messages of one change of a conversation, which keeps them until the next
const attempts = 40; // each lost to another writer, or of another 50

/**
 * Puts messages of people of one app into their conversations, each once, and tells of them. May be done again with the same
 * messages: then it changes nothing more, and tells again under the same ids.
 * @throws Unavailable when not all could be stored or told: receive them again
 */
export const receiveMessages = (deps: ReceiveDeps) => {
  const arrivals = { ...deps.arrivals, kept: keptIds() };
  return async (of: OfApp, all: readonly Arrival[], { isRepeated, rules }: Receiving): Promise<void> => {
    const now = deps.clock.now();
    const contacts = await deps.contactsOf(of, all, now);
    const prepared = preparedBy(all, contacts);
    await deps.beginSessions(of, prepared, { now, rules });
    const answered = await deps.answeredBy(of, prepared, now);
    const kept = await putIn(arrivals, { of, prepared, making: { now, answered, rules } });
    const told = isRepeated ? [...kept.written, ...kept.known] : kept.written;
    const events = receivedEvents(told, kept.conversations);
    if (events.length > 0 && !(await deps.publish(of.tenantId, events))) throw new Unavailable("the stream of events");
  };
};

type KeptIds = { has: (id: string) => boolean; add: (rows: readonly ConversationMessageRow[]) => void };

/** Messages that this process has stored by themselves, of late: of these nobody has to ask whether they are. */
const keptIds = (): KeptIds => {
  const ids = new LRUCache<string, true>(atMostEntries(mostKeptIds));
  return {
    has: (id) => ids.has(id),
    add: (rows) => {
      for (const { _id } of rows) ids.set(_id, true);
    },
  };
};

const mostKeptIds = 20_000; // 100 bytes each

type Keeping = Arrivals & { kept: KeptIds };

/** Each message once. Who was deleted at this moment is left out. */
const preparedBy = (all: readonly Arrival[], contacts: ReadonlyMap<string, SubscriptionRow>): Prepared[] => {
  const each = new Map(all.map((one) => [arrivalId(one), one]));
  return [...each].flatMap(([id, arrival]) => {
    const contact = contacts.get(`${arrival.channel} ${arrival.message.address}`);
    return contact === undefined ? [] : [{ ...arrival, id, place: placeOfArrival(arrival), contact }];
  });
};

type Wanted = { of: OfApp; prepared: readonly Prepared[]; making: Making };

/** `written`: messages that were counted here, or may have been; `known`: those that were counted before. */
type Kept = {
  written: ConversationMessageRow[];
  known: ConversationMessageRow[];
  conversations: Map<string, ConversationRow>;
};

const putIn = async (arrivals: Keeping, { of, prepared, making }: Wanted): Promise<Kept> => {
  const kept: Kept = { written: [], known: [], conversations: new Map() };
  const tried = new Set<string>(); // some may be written although the answer did not say so
  let open = [...prepared];
  for (let attempt = 0; open.length > 0; attempt++) {
    if (attempt === attempts) throw new Unavailable("conversations that others change all the time");
    const places = new Map(open.map((one) => [placeOf(one.place), one]));
    const current = await arrivals.at(of, [...places.keys()]);
    const counted = await countedOf(arrivals, current, open);
    for (const { id } of open) (tried.has(id) ? kept.written : kept.known).push(...listOf(counted.get(id)));
    for (const row of current) kept.conversations.set(row._id, row);
    open = open.filter(({ id }) => !counted.has(id));
    for (const { id } of open) tried.add(id);
    const written = await putNew(arrivals, { current, open, making });
    for (const row of written) kept.conversations.set(row._id, row);
    const added = written.flatMap((row) => row.appended);
    kept.written.push(...added);
    const done = new Set(added.map(({ _id }) => _id));
    open = open.filter(({ id }) => !done.has(id));
  }
  return kept;
};

const listOf = <T>(one: T | undefined): T[] => (one === undefined ? [] : [one]);

/** Those that are counted already, by their ids. What was counted last and is not stored is stored now. */
const countedOf = async (
  arrivals: Keeping,
  current: readonly ConversationRow[],
  open: readonly Prepared[],
): Promise<Map<string, ConversationMessageRow>> => {
  const appended = current.flatMap((row) => row.appended);
  const [known = [], unsure = []] = [true, false].map((is) =>
    appended.filter(({ _id }) => arrivals.kept.has(_id) === is),
  );
  const ids = new Set([...open.map(({ id }) => id), ...unsure.map(({ _id }) => _id)]);
  const stored = new Map([...known, ...(await arrivals.stored([...ids]))].map((row) => [row._id, row]));
  const missing = unsure.filter(({ _id }) => !stored.has(_id));
  await arrivals.keep(missing);
  arrivals.kept.add(unsure);
  for (const row of missing) stored.set(row._id, row);
  return stored;
};

type New = { current: readonly ConversationRow[]; open: readonly Prepared[]; making: Making };

/** Counts messages in their conversations, and stores them; gives the conversations that took theirs. */
const putNew = async (arrivals: Keeping, { current, open, making }: New): Promise<ConversationRow[]> => {
  const byPlace = new Map(current.map((row) => [row.place ?? "", row]));
  const groups = [...Map.groupBy(open, ({ place }) => placeOf(place))];
  const past = current.filter((row) => !isCurrent(row, making.rules, making.now));
  await arrivals.leave(past);
  const changes = groups.flatMap(([place, [first, ...others]]) => {
    const at = byPlace.get(place);
    const read = at === undefined || past.includes(at) ? null : at;
    if (first === undefined) return [];
    return [{ read, after: withArrivals(read, [first, ...others.slice(0, mostAtOnce - 1)], making) }];
  });
  const made = changes.flatMap(({ read, after }) => (read === null ? [after] : []));
  const changed = changes.flatMap(({ read, after }) => (read === null ? [] : [{ read, after }]));
  const refused = await arrivals.open(made);
  const areAll = await arrivals.change(changed);
  const written = [
    ...made.filter(({ _id }) => !refused.has(_id)),
    ...(areAll ? changed.map(({ after }) => after) : []), // else nobody knows which: they are read again
  ];
  const added = written.flatMap((row) => row.appended);
  await arrivals.keep(added);
  arrivals.kept.add(added);
  return written;
};
