import { isDeepStrictEqual } from "node:util";
import { derivedIdAt } from "#core/domain/ids.ts";
import type { ImportedAddress } from "#core/domain/imports/row.ts";
import { cameAndWent } from "#core/domain/people/came-back.ts";
import type { ChangedSubscription } from "#core/storage/imports/people.ts";
import { blankSubscription } from "#core/storage/people/made.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { ImportBatch } from "./import-batch.ts";
import type { PersonDraft } from "./person.ts";

/** A subscription as the rows of a batch make it; `read` as in {@link PersonDraft}. `isOut`: the last one that says so opts it out. */
export type AddressDraft = { read: SubscriptionRow | null; now: SubscriptionRow; isOut: boolean };

/** An address of the app's that nobody has. */
export const newAddress = (
  batch: ImportBatch,
  { now: user }: PersonDraft,
  { channel, token }: ImportedAddress,
): AddressDraft => {
  const blank = blankSubscription(addressId(batch, channel, token), { user, channel, token, web: null }, batch.now);
  return { read: null, now: blank, isOut: false };
};

const addressId = ({ importId, idsAt, number }: ImportBatch, channel: string, token: string): string =>
  derivedIdAt("subscription", idsAt, importId, String(number), channel, token);

/** Whether this batch made it, in this attempt or in an earlier one. */
export const isMadeBy = (batch: ImportBatch, { read, now }: AddressDraft): boolean =>
  read === null || read._id === addressId(batch, now.channel, now.token);

/** A subscription with what a row says of it: it moves to the row's user. */
export const withAddress = (
  batch: ImportBatch,
  draft: AddressDraft,
  { owner, address, lastActiveAt }: { owner: PersonDraft; address: ImportedAddress; lastActiveAt: Date | undefined },
): AddressDraft => {
  const { now: row } = draft;
  const isFirst = draft.read === null && row.last_active_at.getTime() === batch.now.getTime();
  const isLater = lastActiveAt !== undefined && (isFirst || lastActiveAt > row.last_active_at);
  const next: SubscriptionRow = {
    ...row,
    user_id: owner.now._id,
    external_id: owner.now.external_id,
    device: { ...row.device, ...address.device },
    ...statusOf(batch, draft, { wanted: address.status, lastActiveAt }),
    last_active_at: isLater ? lastActiveAt : row.last_active_at,
  };
  const isOut = address.status === null ? draft.isOut : address.status === "unsubscribed";
  return { ...draft, now: next, isOut };
};

type Status = Pick<SubscriptionRow, "status" | "status_reason" | "unsubscribed_at">;

/**
 * Only a row that says `subscribed` in words has anybody subscribed again, and a device that was seen here since is not
 * invalid. Source: docs/reference/imports.md#statuses.
 */
const statusOf = (
  { now }: ImportBatch,
  { read, now: row }: AddressDraft,
  { wanted, lastActiveAt }: { wanted: ImportedAddress["status"]; lastActiveAt: Date | undefined },
): Partial<Status> => {
  if (wanted === null || wanted === row.status) return {};
  const endedAt = { unsubscribed_at: row.unsubscribed_at ?? now };
  switch (wanted) {
    case "subscribed":
      return { status: wanted, status_reason: null, unsubscribed_at: null };
    case "unsubscribed":
      return row.status === "invalid" ? endedAt : { status: wanted, status_reason: "import", ...endedAt };
    case "invalid":
      if (read !== null && lastActiveAt !== undefined && read.last_active_at > lastActiveAt) return {};
      return { status: wanted, status_reason: "import" };
  }
};

/** The change of a subscription that is there; null when nothing of it changes. */
export const changedAddress = (batch: ImportBatch, { read, now }: AddressDraft): ChangedSubscription | null => {
  if (read === null) return null;
  const { user_id, external_id, device, status, status_reason, unsubscribed_at, last_active_at } = now;
  const set = { user_id, external_id, device, status, status_reason, unsubscribed_at, last_active_at };
  const names = Object.keys(set) as (keyof typeof set)[]; // sound: its own
  const isSame = names.every((name) => isDeepStrictEqual(read[name], set[name]));
  const instants = cameAndWent(read.status, status, batch.now);
  return isSame ? null : { read, set: { ...set, ...instants, updated_at: batch.now } };
};
