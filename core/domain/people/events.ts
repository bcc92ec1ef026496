import type { OutboxEvent } from "../../schema/events/envelope.ts";
import { noReferences } from "../../schema/events/refs.ts";
import { makeEvent } from "../events/make.ts";
import { subscriptionView, userView, type ViewedSubscription, type ViewedUser } from "./views.ts";

type User = ViewedUser & { app_id: string; created_at: Date; updated_at: Date; revision: number; changed: string[] };
type Subscription = ViewedSubscription & { app_id: string };

/** That a user was made; subscriptions have events of their own. */
export const userCreated = (row: User): OutboxEvent =>
  makeEvent({
    kind: "user.created",
    ...aboutUser(row, row.created_at),
    from: [row._id],
    data: { ...noReferences, user_id: row._id, ...userView(row, []), changed: [] },
  });

/** All that has changed of a user since the last such event. */
export const userUpdated = (row: User, subscriptions: readonly Subscription[]): OutboxEvent =>
  makeEvent({
    kind: "user.updated",
    ...aboutUser(row, row.updated_at),
    from: [row._id, String(row.revision)],
    data: { ...noReferences, user_id: row._id, ...userView(row, subscriptions), changed: row.changed },
  });

/** That a user became part of another one, who is as given. */
export const userMerged = (row: User, merged: Pick<User, "_id">, at: Date): OutboxEvent =>
  makeEvent({
    kind: "user.merged",
    ...aboutUser(row, at),
    from: [row._id, merged._id],
    data: { ...noReferences, user_id: row._id, external_id: row.external_id, merged_user_id: merged._id },
  });

/** That a user is gone: with their ids alone. */
export const userDeleted = (row: User, at: Date): OutboxEvent =>
  makeEvent({
    kind: "user.deleted",
    ...aboutUser(row, at),
    from: [row._id],
    data: { ...noReferences, user_id: row._id, external_id: row.external_id },
  });

export type SubscriptionEventKind = "subscription.created" | "subscription.unsubscribed" | "subscription.invalidated";

/** What became of a subscription; `row` is as it is now. Its `status_reason` is the event's reason. */
export const subscriptionEvent = (kind: SubscriptionEventKind, row: Subscription, at: Date): OutboxEvent =>
  makeEvent({
    kind,
    appId: row.app_id,
    subjectId: row._id,
    at,
    from: kind === "subscription.created" ? [row._id] : [row._id, at.toISOString()],
    data: {
      ...noReferences,
      subscription_id: row._id,
      ...subscriptionView(row),
      reason: kind === "subscription.created" ? null : row.status_reason,
    },
  });

const aboutUser = ({ app_id: appId, _id: subjectId }: User, at: Date) => ({ appId, subjectId, at });
