import type { Clock } from "#core/domain/clock.ts";
import { defined } from "#core/domain/defined.ts";
import { newId } from "#core/domain/ids.ts";
import { cameAndWent } from "#core/domain/people/came-back.ts";
import { AppError, halfDone } from "#core/errors.ts";
import type { CreateSubscription, UpdateSubscription } from "#core/schema/people/subscription.ts";
import { userLimits } from "#core/schema/people/user.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import { blankSubscription } from "#core/storage/people/made.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Put, Subscriptions } from "#core/storage/people/subscriptions.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import type { Caller } from "../access/caller.ts";
import type { RequireSubscribers } from "../limits/subscriber-quota.ts";
import type { FollowStatus } from "./follow-status.ts";
import { type Addressed, addressOf } from "./subscription-checks.ts";

/** Whose plan it counts against. */
type Subscribing = Pick<Caller, "tenant" | "plan">;

export type RegisterDeps = {
  subscriptions: Pick<Subscriptions, "ofUser" | "put">;
  remove: (row: SubscriptionRow) => Promise<void>;
  /** Publishes what is in an outbox, without being waited for. */
  publish: (row: SubscriptionRow) => void;
  requireSubscribers: RequireSubscribers;
  followStatus: FollowStatus;
  clock: Clock;
};

/**
 * Gives a user a subscription. One that the app has for this token already is changed, and moves to this user; without
 * a status in the body, whoever had unsubscribed stays so.
 */
export const registerSubscription =
  (deps: RegisterDeps) =>
  async (
    caller: Subscribing,
    user: UserRow,
    body: CreateSubscription,
    at = "",
  ): Promise<Pick<Put, "row" | "isNew">> => {
    const addressed = addressOf(body, at);
    const owned = await deps.subscriptions.ofUser(ofRow(user), user._id);
    const now = deps.clock.now();
    const made = madeSubscription(user, addressed, body, now);
    const known = owned.find((row) => row.channel === made.channel && row.token === made.token);
    const displaced = known === undefined ? displacedOf(owned) : null;
    if (known === undefined || known.status === "invalid") await deps.requireSubscribers(caller, [made]);
    if (displaced !== null) await deps.remove(displaced);
    const change = (read: SubscriptionRow) => changeOf(read, { user, addressed, body, now });
    const wanted = { made, known, change };
    const writing = deps.subscriptions.put(user.tenant_id, wanted);
    const put = await (displaced === null ? writing : writing.catch(halfDone));
    if (put.hasNews) deps.publish(put.row);
    await deps.followStatus(put.row, body.status);
    return put;
  };

/** A subscription of a user as a body wants it, should the app not have it. */
export const madeSubscription = (
  user: UserRow,
  addressed: Addressed,
  body: UpdateSubscription,
  now: Date,
): SubscriptionRow => {
  const blank = blankSubscription(newId("subscription", now), { user, ...addressed }, now);
  return { ...blank, ...changeOf(blank, { user, addressed, body, now }) };
};

/** Refuses what {@link registerSubscription} would refuse of these, one after the other: all or none. Writes nothing. */
export const requireRegistrable =
  ({ subscriptions, requireSubscribers }: Pick<RegisterDeps, "subscriptions" | "requireSubscribers">) =>
  async (caller: Caller, user: UserRow, wanted: readonly Addressed[]): Promise<void> => {
    if (wanted.length === 0) return;
    const { tenant_id, app_id } = user;
    let owned: Owned[] = await subscriptions.ofUser(ofRow(user), user._id);
    const more: Addressed[] = [];
    for (const one of wanted) {
      const known = owned.find((row) => row.channel === one.channel && row.token === one.token);
      const replaced = known ?? displacedOf(owned);
      if (known === undefined || known.status === "invalid") more.push(one);
      const { last_active_at } = user; // of no account: only invalid ones are displaced
      owned = [...owned.filter((row) => row !== replaced), { ...one, status: "subscribed", last_active_at }];
    }
    const rows = more.map((one) => ({ tenant_id, app_id, ...one }));
    await requireSubscribers(caller, rows);
  };

type Owned = Pick<SubscriptionRow, "channel" | "token" | "status" | "last_active_at">;

/**
 * Which subscription of a full user makes room for another; null when there is room. Source: docs/reference/people.md#subscription-limit.
 * @throws AppError HS_CONFLICT when none of them is invalid
 */
export const displacedOf = <Row extends Owned>(owned: readonly Row[]): Row | null => {
  const limit = userLimits.subscriptions;
  if (owned.length < limit) return null;
  const invalid = owned.filter((row) => row.status === "invalid");
  const [oldest] = invalid.sort((a, b) => a.last_active_at.getTime() - b.last_active_at.getTime());
  if (oldest === undefined || owned.length > limit) {
    throw new AppError("HS_CONFLICT", `a user has at most ${limit} subscriptions`, { status: "full", limit });
  }
  return oldest;
};

type Registration = { user: UserRow; addressed: Addressed; body: UpdateSubscription; now: Date };

const changeOf = (read: SubscriptionRow, { user, addressed, body, now }: Registration): Partial<SubscriptionRow> => ({
  user_id: user._id,
  external_id: user.external_id,
  web: addressed.web,
  ...(body.status === undefined ? revived(read, now) : statusChange(read, body.status, now)),
  ...plainMembers(body),
  last_active_at: now,
  updated_at: now,
});

/** What a body sets as it is. */
export const plainMembers = ({ language, test_device, device, badge }: UpdateSubscription): Partial<SubscriptionRow> =>
  defined({ language, test_device, device, badge });

type Status = Pick<
  SubscriptionRow,
  "status" | "status_reason" | "unsubscribed_at" | "invalid_since" | "resubscribed_at"
>;

/** What a status that the interface sets changes. */
export const statusChange = (
  read: SubscriptionRow,
  status: "subscribed" | "unsubscribed",
  now: Date,
): Partial<Status> => {
  if (status === read.status) return {};
  const instants = cameAndWent(read.status, status, now);
  return status === "subscribed"
    ? { status, status_reason: null, unsubscribed_at: null, ...instants }
    : { status, status_reason: "api", unsubscribed_at: read.unsubscribed_at ?? now, ...instants };
};

/** An invalid address that is given anew is good again; who had unsubscribed before it became invalid stays so. */
export const revived = (read: SubscriptionRow, now: Date): Partial<Status> => {
  if (read.status !== "invalid") return {};
  return read.unsubscribed_at === null
    ? { status: "subscribed", status_reason: null, ...cameAndWent(read.status, "subscribed", now) }
    : { status: "unsubscribed", status_reason: "api", ...cameAndWent(read.status, "unsubscribed", now) };
};
