import type { Clock } from "#core/domain/clock.ts";
import { AppError } from "#core/errors.ts";
import type { UpdateSubscription } from "#core/schema/people/subscription.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { isEnded, type Subscriptions } from "#core/storage/people/subscriptions.ts";
import type { Caller } from "../access/caller.ts";
import type { RequireSubscribers } from "../limits/subscriber-quota.ts";
import { writeAsIs } from "../settings/write-as-is.ts";
import type { FollowStatus } from "./follow-status.ts";
import { plainMembers, revived, statusChange } from "./register-subscription.ts";
import { changedAddress } from "./subscription-checks.ts";

export type UpdateSubscriptionDeps = {
  subscriptions: Pick<Subscriptions, "find" | "findByToken" | "update">;
  requireSubscribers: RequireSubscribers;
  followStatus: FollowStatus;
  /** Publishes what is in an outbox, without being waited for. */
  publish: (row: SubscriptionRow) => void;
  clock: Clock;
};

/** Changes a subscription. A new token makes an invalid one good again. */
export const updateSubscription =
  (deps: UpdateSubscriptionDeps) =>
  async (caller: Caller, found: SubscriptionRow, body: UpdateSubscription): Promise<SubscriptionRow> => {
    const { subscriptions, publish, clock } = deps;
    const written = await writeAsIs({
      what: "subscription",
      found,
      reread: (read) => subscriptions.find(ofRow(read), read._id),
      attempt: async (read) => {
        const change = changeOf(read, body, clock.now());
        const isRestored = read.status === "invalid" && change.status !== undefined;
        if (isRestored) await requireWithinPlan(deps, caller, { ...read, ...change });
        const updated = await subscriptions.update(read.tenant_id, read, change);
        if (updated === "taken") throw taken();
        if (updated !== null && isEnded(read, updated)) publish(updated);
        return updated;
      },
    });
    await deps.followStatus(written, body.status ?? statusOfAddress(written, body));
    return written;
  };

/** The opt-out of a subscription is one of its new address, too. */
const statusOfAddress = ({ status }: SubscriptionRow, { token }: UpdateSubscription): UpdateSubscription["status"] =>
  token !== undefined && status === "unsubscribed" ? status : undefined;

/** One that is valid again counts again; whose token it is comes first: docs/reference/requests.md#order-of-checks. */
const requireWithinPlan = async (
  { subscriptions, requireSubscribers }: UpdateSubscriptionDeps,
  caller: Caller,
  wanted: SubscriptionRow,
): Promise<void> => {
  const holder = await subscriptions.findByToken(ofRow(wanted), wanted.channel, wanted.token);
  if (holder !== null && holder._id !== wanted._id) throw taken();
  await requireSubscribers(caller, [wanted]);
};

const taken = (): AppError =>
  new AppError("HS_ALREADY_EXISTS", "another subscription of the app has this token", { field: "token" });

const changeOf = (read: SubscriptionRow, body: UpdateSubscription, now: Date): Partial<SubscriptionRow> => {
  const address = changedAddress(read.channel, body);
  const isRenewed = address.token !== undefined && address.token !== read.token;
  return {
    ...address,
    ...(isRenewed && { ...revived(read, now), session_expires_at: null, ad_clicked_at: null, ad_session_until: null }),
    ...(body.status !== undefined && statusChange(read, body.status, now)),
    ...plainMembers(body),
    updated_at: now,
  };
};
