import { invalid } from "#core/errors.ts";
import type { CreateNotificationResult } from "#core/schema/messages/message.ts";
import type { Target } from "#core/schema/messages/notification.ts";
import type { Probed, Targets } from "#core/storage/messages/targets.ts";
import type { NewContact } from "#core/storage/people/contacts.ts";
import type { Audience } from "#core/storage/people/subscription-counts.ts";
import { aliasKey } from "#core/storage/people/users.ts";
import type { FindSuppressed } from "#core/storage/suppressions/find-suppressed.ts";
import { traitsOn } from "./audience.ts";
import { type Aimed, type CountAimedDeps, countAimed } from "./count-aimed.ts";
import { type FindContactsDeps, findContacts, leftOf } from "./find-contacts.ts";
import type { LastCountOf } from "./last-count.ts";

export type EstimateDeps = FindContactsDeps &
  Pick<CountAimedDeps, "mostMs"> & {
    targets: Pick<Targets, "byAlias" | "byId" | "isLabelKnown" | "probe" | "probeUsers">;
    /** Subscriptions that a message to all would reach; the number may be 10 s old, of a large app 10 minutes. */
    countAll: (of: Audience) => Promise<number>;
    /** Which subscriptions of one channel the suppression list holds a message back from. */
    findSuppressed: (...given: Parameters<FindSuppressed>) => Promise<Pick<ReadonlySet<string>, "has" | "size">>;
    aimed: CountAimedDeps["aimed"] & FindContactsDeps["aimed"];
  };

/** Deliveries expected now, and the ids that matched nothing. */
export type Estimate = {
  recipients: number;
  /** The same for each channel that reaches anybody. */
  byChannel: Record<string, number>;
  /** Too many would have to be looked at: there are at most so many. */
  isUpperBound?: true;
  /** Too many would have to be looked at: the last counts of its segments are given, the first of which was made then. */
  asOf?: Date;
  /** What is made of the addresses that it names and the app does not have, and how many of `recipients` these are. */
  contacts: NewContact[];
  newContacts: number;
  externalIdMissing: string[];
  missing: NonNullable<CreateNotificationResult["missing"]>;
};

/** Counts a target: exact for explicit ids. @throws ValidationError for an alias label that no user of the app has */
export const estimate =
  (deps: EstimateDeps) =>
  async (audience: Audience, target: Target, asked: Asked = {}): Promise<Estimate> => {
    const { aimed = null, onePerUser = false, onReached, last } = asked;
    const isEachSeen = onePerUser || onReached !== undefined;
    const subscriptionIds = [...new Set(target.include_subscription_ids)];
    const isForAll = target.all === true && aimed === null && !isEachSeen;
    const [all, found, byId, contacts] = await Promise.all([
      isForAll ? countAll(deps, audience) : [],
      findPeople(deps, audience, target),
      deps.targets.probe(audience, subscriptionIds),
      findContacts(deps, audience, target),
    ]);
    const byUser = isForAll ? [] : await deps.targets.probeUsers(audience, found.ids);
    const named = [...byUser, ...byId, ...contacts.known];
    const contactIds = contacts.known.map(({ _id }) => _id);
    const chosen = { subscriptionIds: new Set([...subscriptionIds, ...contactIds]), userIds: new Set(found.ids) };
    const seen: Seen = { people: onePerUser ? new Set() : null, onReached, last };
    const looked = aimed ?? (isEachSeen && target.all === true ? everyone : null);
    const meant = looked && (await countMeant(deps, audience, looked, { named, chosen, seen }));
    const there = meant?.reached ?? (isForAll ? all : await countReached(deps, named, audience, seen));
    const left = await leftOf(deps, audience, contacts.made, aimed);
    const fresh = await countReached(deps, left, audience, seen);
    const reached = summed([...there, ...fresh]);
    const known = new Set(byId.map(({ _id }) => _id));
    return {
      recipients: sumOf(reached),
      byChannel: Object.fromEntries(reached.filter(([, count]) => count > 0)),
      ...(meant?.asOf && { asOf: meant.asOf }),
      ...((meant?.isBound || (onePerUser && meant?.asOf !== undefined)) && { isUpperBound: true as const }),
      contacts: contacts.made,
      newContacts: sumOf(fresh),
      externalIdMissing: found.externalIdMissing,
      missing: {
        subscription_ids: subscriptionIds.filter((id) => !known.has(id)),
        aliases: found.missing,
      },
    };
  };

/** How a target is counted. */
export type Asked = {
  aimed?: Aimed | null;
  /** Each person counts once. */
  onePerUser?: boolean;
  /** Gives the last counts of what it is about, which will do where people cannot be looked at in time. */
  last?: LastCountOf;
  /** Told of all who are counted, some at a time: then everybody is looked at, for some seconds at most. */
  onReached?: OnReached | undefined;
};

export type OnReached = (rows: readonly Probed[]) => Promise<void>;

/** Those who are counted: with `people` nobody counts who is among them, and who counts is added. */
type Seen = { people: Set<string> | null; onReached: OnReached | undefined; last: LastCountOf | undefined };

/** How long people are looked at where each of them matters. */
const mostMsOfEach = 5_000;

const everyone: Aimed = {
  aim: { isEveryone: true, included: [], excluded: [], filter: null, segments: [] },
  at: new Date(0), // it asks nothing about time
};

/** What of a target matched nothing, as replies name it. */
export const missingOf = ({ externalIdMissing, missing }: Estimate) => ({
  external_id_missing: externalIdMissing,
  ...((missing.subscription_ids.length > 0 || Object.keys(missing.aliases).length > 0) && { missing }),
});

type ChannelCount = [channel: string, count: number];

const sumOf = (counts: readonly ChannelCount[]): number => counts.reduce((sum, [, count]) => sum + count, 0);

const summed = (counts: readonly ChannelCount[]): ChannelCount[] =>
  [...Map.groupBy(counts, ([channel]) => channel)].map(([channel, of]) => [channel, sumOf(of)]);

/** By segments and a filter; where there is no time for that, everybody whom the channels reach. */
const countMeant = async (
  deps: EstimateDeps,
  audience: Audience,
  aimed: Aimed,
  { seen, ...given }: Parameters<typeof countAimed>[3] & { seen: Seen },
): Promise<{ reached: ChannelCount[]; isBound: boolean; asOf?: Date }> => {
  const counting = {
    ...deps,
    countReached: (rows: readonly Probed[]) => countReached(deps, rows, audience, seen),
    ...(seen.onReached && { mostMs: mostMsOfEach }),
  };
  const reached = await countAimed(counting, audience, aimed, given);
  if (reached !== null) return { reached, isBound: false };
  const last = await seen.last?.(audience, aimed.aim);
  if (!last) return { reached: await countAll(deps, audience), isBound: true };
  const named = await countReached(deps, given.named, audience, {
    people: null,
    onReached: undefined,
    last: undefined,
  });
  return { reached: [...last.byChannel, ...named], isBound: last.isBound || given.named.length > 0, asOf: last.at };
};

const countAll = (deps: EstimateDeps, audience: Audience): Promise<ChannelCount[]> =>
  Promise.all(
    [...Map.groupBy(audience.reach, ({ channel }) => channel)].map(
      async ([channel, reach]): Promise<ChannelCount> => [channel, await deps.countAll({ ...audience, reach })],
    ),
  );

const countReached = async (
  { findSuppressed }: EstimateDeps,
  rows: readonly Probed[],
  audience: Audience,
  seen: Seen,
): Promise<ChannelCount[]> => {
  const { reach, testOnly } = audience;
  const reached = rows.filter(
    (row) =>
      (!testOnly || row.test_device) &&
      reach.some(({ channel, status }) => row.channel === channel && row.status === status),
  );
  const once = [...new Map(reached.map((row) => [row._id, row])).values()];
  return Promise.all(
    [...Map.groupBy(once, ({ channel }) => channel)].map(async ([channel, of]): Promise<ChannelCount> => {
      const suppressed = await findSuppressed(audience, traitsOn(audience, channel), of);
      const { people, onReached } = seen;
      if (people === null && onReached === undefined) return [channel, of.length - suppressed.size];
      const counted = of.filter(({ _id, user_id: userId }) => !suppressed.has(_id) && isNew(people, userId));
      await onReached?.(counted);
      return [channel, counted.length];
    }),
  );
};

const isNew = (people: Set<string> | null, userId: string): boolean => {
  if (people === null) return true;
  const before = people.size;
  return people.add(userId).size > before;
};

type People = { ids: string[]; externalIdMissing: string[]; missing: Record<string, string[]> };

const findPeople = async (deps: EstimateDeps, audience: Audience, target: Target): Promise<People> => {
  const { user_id: userIds = [], external_id: externalIds = [], ...custom } = target.include_aliases ?? {};
  const labels: Record<string, string[]> = {
    external_id: [...(target.include_external_ids ?? []), ...externalIds],
    ...custom,
  };
  const keys = Object.entries(labels).flatMap(([label, ids]) => ids.map((id) => aliasKey(label, id)));
  const [aliased, byId] = await Promise.all([
    deps.targets.byAlias(audience, [...new Set(keys)]),
    deps.targets.byId(audience, userIds),
  ]);
  const existing = new Set(byId.map(({ _id }) => _id));
  const known = new Set(aliased.flatMap((user) => user.alias_keys));
  const missing = Object.entries(labels).map(([label, ids]): [string, string[]] => {
    const unknown = new Set(ids.filter((id) => !known.has(aliasKey(label, id))));
    return [label, [...unknown]];
  });
  const { external_id: externalIdMissing = [], ...others } = Object.fromEntries<string[]>(missing);
  const suspects = Object.keys(others).filter((label) => others[label]?.length === new Set(custom[label]).size);
  await requireLabels(deps, audience, suspects);
  return {
    ids: [...new Set([...aliased.map(({ _id }) => _id), ...existing])],
    externalIdMissing,
    missing: nonEmpty({ ...others, user_id: userIds.filter((id) => !existing.has(id)) }),
  };
};

/** A label of which not one id is known may be misspelt. Source: docs/reference/messages.md#targets. */
const requireLabels = async (
  { targets }: EstimateDeps,
  audience: Audience,
  labels: readonly string[],
): Promise<void> => {
  const isKnown = await Promise.all(labels.map((label) => targets.isLabelKnown(audience, label)));
  const unknown = labels.find((_, i) => isKnown[i] === false);
  if (unknown !== undefined) throw invalid(`target.include_aliases.${unknown}`, "is a label that no user has");
};

const nonEmpty = (lists: Record<string, string[]>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(lists).filter(([, ids]) => ids.length > 0));
