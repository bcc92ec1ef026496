import { checkAddress } from "#core/channels/addresses.ts";
import { contactsOf } from "#core/channels/contacts.ts";
import type { Clock } from "#core/domain/clock.ts";
import { asksOf } from "#core/domain/segments/aim.ts";
import { invalid } from "#core/errors.ts";
import { channels } from "#core/schema/vocabulary/channels.ts";
import { type Why, type WhyQuery, type WhyRecipient, whyGates } from "#core/schema/why/why.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { aliasKeysOf } from "#core/storage/messages/audience.ts";
import type { CapTakes } from "#core/storage/messages/cap-takes.ts";
import { type DeliveryRow, deliveryIdOf } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { type OfApp, ofApp, ofRow } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import type { FactsOf } from "#core/storage/segments/facts.ts";
import { keysOf } from "#core/storage/suppressions/find-suppressed.ts";
import type { SubjectOf } from "#core/storage/suppressions/keys.ts";
import type { Suppressions } from "#core/storage/suppressions/suppressions.ts";
import type { WhySubjects } from "#core/storage/why/subjects.ts";
import { explain } from "./explain.ts";
import { judgedAt } from "./gates/audience.ts";
import type { Seen } from "./gates/gate.ts";

export type WhyDeps = {
  users: { find: (of: OfApp, label: string, id: string) => Promise<UserRow | null> };
  subscriptions: { ofUser: (of: OfApp, userId: string) => Promise<SubscriptionRow[]> };
  subjects: WhySubjects;
  deliveries: { existing: (ids: readonly string[]) => Promise<DeliveryRow[]> };
  suppressions: Pick<Suppressions, "said">;
  subjectsOf: (app: OfApp) => Promise<SubjectOf>;
  caps: Pick<CapTakes, "counted">;
  factsOf: FactsOf;
  clock: Clock;
};

/** Whom is asked about: a person, with those of their subscriptions that are meant, and what was delivered to them. */
type Asked = {
  /** A person is asked about, and not an address or id of a subscription. */
  isOfPerson: boolean;
  person: UserRow | null;
  subscriptions: readonly SubscriptionRow[];
  deliveries: readonly DeliveryRow[];
};

/** Says why somebody got a notification, or did not: for each subscription that is asked about. @throws ValidationError */
export const why =
  (deps: WhyDeps) =>
  async (app: AppRow, message: MessageRow, query: WhyQuery): Promise<Why> => {
    const asked = await askedAbout(deps, app, message, query);
    const { person, deliveries } = asked;
    const seen = await seenOf(deps, app, message, asked);
    const recipients = seen.map(explain);
    return {
      message_id: message._id,
      user_id: person?._id ?? deliveries[0]?.user_id ?? null,
      external_id: person?.external_id ?? query.external_id ?? null,
      sentence: furthest(recipients)?.sentence ?? "The app has no subscription with this address or id.",
      recipients,
      as_of: deps.clock.now().toISOString(),
    };
  };

const askedAbout = async (deps: WhyDeps, app: AppRow, message: MessageRow, query: WhyQuery): Promise<Asked> => {
  const of = ofApp(app);
  const { external_id: externalId, subscription_id: subscriptionId, address } = query;
  const given = [externalId, subscriptionId, address].filter((one) => one !== undefined);
  if (given.length !== 1) throw invalid("external_id", "one of external_id, subscription_id and address is needed");
  if (externalId !== undefined) {
    const person = await deps.users.find(of, "external_id", externalId);
    const all = person === null ? [] : await deps.subscriptions.ofUser(of, person._id);
    return { isOfPerson: true, person, subscriptions: all, deliveries: await deliveriesOf(deps, message, all) };
  }
  const found = await subscriptionsOf(deps, of, { subscriptionId, address });
  const ids = subscriptionId === undefined ? found : [{ _id: subscriptionId }]; // one that is gone may have a delivery
  const deliveries = await deliveriesOf(deps, message, ids);
  const owner = found[0]?.user_id ?? deliveries[0]?.user_id ?? null;
  const person = owner === null ? null : await deps.subjects.person(of, owner);
  return { isOfPerson: false, person, subscriptions: found, deliveries };
};

const deliveriesOf = ({ deliveries }: WhyDeps, { _id, tenant_id }: MessageRow, of: readonly { _id: string }[]) =>
  of.length === 0
    ? Promise.resolve([])
    : deliveries
        .existing(of.map((one) => deliveryIdOf(_id, one._id)))
        .then((rows) => rows.filter((row) => row.tenant_id === tenant_id));

const subscriptionsOf = async (
  { subjects }: WhyDeps,
  of: OfApp,
  { subscriptionId, address }: { subscriptionId: string | undefined; address: string | undefined },
): Promise<SubscriptionRow[]> => {
  if (address === undefined)
    return [await subjects.subscription(of, subscriptionId ?? "")].filter((one) => one !== null);
  const spelt = channels.flatMap((channel) => {
    const checked = checkAddress(channel, address);
    return checked.ok ? [{ channel, token: checked.address }] : [];
  });
  return spelt.length === 0 ? [] : subjects.addressed(of, spelt);
};

/** One for each subscription, and for one that is gone; one without any for a person who has none, or is unknown. */
const seenOf = async (
  deps: WhyDeps,
  app: AppRow,
  message: MessageRow,
  { isOfPerson, person, subscriptions, deliveries }: Asked,
): Promise<Seen[]> => {
  const common = {
    message,
    aim: message.aim ?? null,
    configured: new Set(Object.keys(app.channels)),
    person,
    now: deps.clock.now(),
    ...(await factsIn(deps, message, person, subscriptions)),
  };
  const gone = deliveries.filter((row) => subscriptions.every(({ _id }) => _id !== row.subscription_id));
  const left = gone.map((delivery) => ({ subscription: null, delivery, entries: [], counted: [] }));
  const one = async (subscription: SubscriptionRow) => {
    const delivery = deliveries.find((row) => row.subscription_id === subscription._id) ?? null;
    const isCapped = delivery?.suppression_reason === "frequency_cap";
    const ids = [subscription._id, subscription.user_id];
    return {
      subscription,
      delivery,
      entries: await entriesOf(deps, app, subscription),
      counted: isCapped ? await deps.caps.counted(ofApp(app), ids) : [],
    };
  };
  const all = [...(await Promise.all(subscriptions.map(one))), ...left];
  const isNobody = isOfPerson && all.length === 0;
  return [...all, ...(isNobody ? [{ subscription: null, delivery: null, entries: [], counted: [] }] : [])].map(
    (each) => ({
      ...common,
      ...each,
      chosen: chosenIn(message, person, each.subscription),
    }),
  );
};

/** What the segments and filters of a message ask about somebody, as of its own instant. */
const factsIn = async (
  { factsOf }: WhyDeps,
  message: MessageRow,
  person: UserRow | null,
  subscriptions: readonly SubscriptionRow[],
): Promise<Pick<Seen, "facts">> => {
  const asks = person === null || message.aim === undefined ? null : asksOf(message.aim, judgedAt(message));
  if (asks === null || person === null) return {};
  return { facts: await factsOf(ofRow(message), asks, { userIds: [person._id], subscriptions }) };
};

const entriesOf = async ({ suppressions, subjectsOf, clock }: WhyDeps, app: AppRow, to: SubscriptionRow) => {
  const subjectOf = await subjectsOf(ofApp(app));
  return suppressions.said(ofApp(app), to.channel, keysOf(to).map(subjectOf), clock.now());
};

/** Those of the ids in a target that are this person's, found by the keys that the audience is read by. */
const chosenIn = (
  { target }: MessageRow,
  person: UserRow | null,
  subscription: SubscriptionRow | null,
): Seen["chosen"] => {
  const keys = new Set(person?.alias_keys);
  const isPerson =
    aliasKeysOf(target).some((key) => keys.has(key)) ||
    (person !== null && target.include_aliases?.["user_id"]?.includes(person._id) === true);
  const isSubscription =
    subscription !== null &&
    (target.include_subscription_ids?.includes(subscription._id) === true ||
      contactsOf(target).some(
        ({ channel, token }) => channel === subscription.channel && token === subscription.token,
      ));
  return {
    userIds: new Set(isPerson && person !== null ? [person._id] : []),
    subscriptionIds: new Set(isSubscription ? [subscription._id] : []),
  };
};

/** The recipient who got through the most gates. */
const furthest = (all: readonly WhyRecipient[]): WhyRecipient | undefined =>
  all.toSorted((a, b) => reachOf(b) - reachOf(a))[0];

const reachOf = ({ gates, decided_by }: WhyRecipient): number =>
  whyGates.indexOf(gates.at(-1)?.gate ?? "accepted") + (decided_by === null ? 0.5 : 0);
