import type { Clock } from "#core/domain/clock.ts";
import { AppError, invalid, NotFound } from "#core/errors.ts";
import type { LiveActivityToken } from "#core/schema/live-activities/requests.ts";
import type { Activities, LiveActivityRow } from "#core/storage/live-activities/activities.ts";
import type { ActivityRecipients } from "#core/storage/live-activities/recipients.ts";
import type { StartTokens } from "#core/storage/live-activities/start-tokens.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import { type OfApp, ofRow } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";

export type TokenDeps = {
  /** A type by its id, else by its name. */
  findType: (of: OfApp, idOrName: string) => Promise<LiveActivityTypeRow | null>;
  startTokens: Pick<StartTokens, "put" | "remove">;
  activities: Pick<Activities, "find" | "dueBy">;
  recipients: Pick<ActivityRecipients, "putToken" | "byToken" | "of" | "lose">;
  clock: Clock;
};

/**
 * Stores a token that a device reported. An update that waited for it is sent at once.
 * @throws NotFound for a type or an activity that is not there, AppError HS_CONFLICT for a token of another activity, or
 * of one that has ended
 */
export const putToken =
  (deps: TokenDeps) =>
  async (subscription: SubscriptionRow, body: LiveActivityToken): Promise<void> => {
    requireDevice(subscription);
    const token = body.token.toLowerCase();
    const now = deps.clock.now();
    if (body.kind === "start") {
      const type = await typeOf(deps, subscription, body.activity_type ?? "");
      return deps.startTokens.put(subscription, type._id, token, now);
    }
    const activity = await activityOf(deps, subscription, body.activity_id ?? "");
    await requireFree(deps, subscription, activity, token);
    const stored = await deps.recipients.putToken({ subscription, activity: activity._id, token, now });
    if (stored !== null && stored.held_message_id !== null) await deps.activities.dueBy(activity._id, now);
  };

/** Forgets a token that a device reported, unless it has reported another since. */
export const removeToken =
  (deps: TokenDeps) =>
  async (subscription: SubscriptionRow, body: LiveActivityToken): Promise<void> => {
    requireDevice(subscription);
    const [token, subscriptionId] = [body.token.toLowerCase(), subscription._id];
    if (body.kind === "start") {
      const type = await typeOf(deps, subscription, body.activity_type ?? "");
      return deps.startTokens.remove(type._id, subscriptionId, token);
    }
    const activity = await activityOf(deps, subscription, body.activity_id ?? "");
    await deps.recipients.lose(activity._id, [{ subscriptionId, token }], deps.clock.now());
  };

const requireDevice = ({ channel }: SubscriptionRow): void => {
  if (channel !== "ios_push") throw invalid("kind", "is only for subscriptions of ios_push", { channel });
};

const typeOf = async (
  { findType }: TokenDeps,
  subscription: SubscriptionRow,
  idOrName: string, // the schema asks for it
): Promise<LiveActivityTypeRow> => {
  const type = await findType(ofRow(subscription), idOrName);
  if (type === null) throw new NotFound("live activity type");
  return type;
};

const activityOf = async (
  { activities }: TokenDeps,
  subscription: SubscriptionRow,
  activityId: string,
): Promise<LiveActivityRow> => {
  const activity = await activities.find(ofRow(subscription), activityId);
  if (activity === null) throw new NotFound("live activity");
  return activity;
};

/** An activity has a token of its own on each device: one of another would update that. */
const requireFree = async (
  { recipients }: TokenDeps,
  subscription: SubscriptionRow,
  activity: LiveActivityRow,
  token: string,
): Promise<void> => {
  const { _id } = subscription;
  const owner = recipients.byToken(ofRow(subscription), token);
  const [holder, known] = await Promise.all([owner, recipients.of(activity._id, [_id])]);
  if (holder !== null && holder.activity !== activity._id)
    throw new AppError("HS_CONFLICT", "the token is that of another live activity", { status: "other_activity" });
  const isExpected = holder?.subscription_id === _id || known.get(_id)?.held_message_id != null;
  if (activity.status === "ended" && !isExpected)
    throw new AppError("HS_CONFLICT", "the live activity has ended", { status: "ended" });
};
