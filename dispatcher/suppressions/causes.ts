import { maskAddress } from "#core/channels/addresses.ts";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import { isGivenUp, softBounceEnd } from "#core/domain/suppressions/effects.ts";
import type { Suppressed } from "#core/domain/suppressions/strength.ts";
import { groupOf } from "#core/domain/suppressions/verdicts.ts";
import { type Channel, isContact } from "#core/schema/vocabulary/channels.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { Contact, Mark } from "#core/storage/people/ended.ts";
import type { Group } from "#core/storage/suppressions/verdicts.ts";
import type { Guard, Judged } from "./guard.ts";
import type { Cause } from "./suppress.ts";

export type CausesDeps = {
  byId: (subscriptionIds: readonly string[]) => Promise<Contact[]>;
  marks: {
    add: (subscriptionId: string, mark: Mark, at: Date) => Promise<readonly Date[]>;
    forget: (subscriptionIds: readonly string[]) => Promise<void>;
  };
  guard: Pick<Guard, "ofReceipts">;
  /** Counts addresses that were called gone and not believed to be. */
  noteDoubted: (channel: Channel) => void;
};

/**
 * A receipt with the delivery that it is about. `isAnswer`: its provider refused it at once; `isBelieved`: the guard has
 * judged that answer.
 */
export type About = { row: DeliveryRow; receipt: Receipt; isAnswer?: true; isBelieved?: true };

/** Which addresses get no more messages because of receipts. Source: docs/reference/suppressions.md#reasons. */
export const causesOf =
  ({ byId, marks, guard, noteDoubted }: CausesDeps) =>
  async (all: readonly About[], now: Date): Promise<Cause[]> => {
    const through = all.filter(({ row, receipt }) => isContact(row.channel) && receipt.kind === "delivered");
    await marks.forget(through.map(({ row }) => row.subscription_id));
    const said = await Promise.all(all.map(async (about) => ({ ...about, said: await saidBy(about, marks, now) })));
    const found = said.filter(({ receipt, said: one }) => one !== null || isGone(receipt));
    const contacts = found.length === 0 ? [] : await byId(found.map(({ row }) => row.subscription_id));
    const known = new Map(contacts.map((one) => [one._id, one]));
    const about = found.map((one) => ({ ...one, of: groupIn(one, addressOf(one, known)) }));
    const asked = about.filter(({ receipt, isBelieved }) => isGone(receipt) && isBelieved !== true);
    const isDoubted = await guard.ofReceipts(
      [...through.map((one) => ({ ...one, of: groupIn(one, one.receipt.address) })), ...asked].flatMap(judgedOf),
      now,
    );
    return about.flatMap(({ of, ...one }): Cause[] => {
      if (one.said === null) return [];
      if (of === null || !isGone(one.receipt) || one.isBelieved === true || !isDoubted({ of, isAnswer: one.isAnswer }))
        return causeOf({ ...one, said: one.said }, addressOf(one, known));
      noteDoubted(one.row.channel);
      return [];
    });
  };

const judgedOf = ({ of, row, receipt, isAnswer }: About & { of: Group | null }): Judged[] =>
  of === null ? [] : [{ of, deliveryId: row._id, isGone: isGone(receipt), isAnswer }];

/** Whether a receipt calls its address gone. */
const isGone = (receipt: Receipt): boolean =>
  (receipt.kind === "bounced" && receipt.type === "hard") ||
  ("suppress" in receipt && receipt.suppress === "invalid_address");

/** Its own address, unless it changed; null when nobody knows it. Devices are not suppressed by their token. */
const addressOf = ({ row, receipt }: About, known: ReadonlyMap<string, Contact>): string | null => {
  const { channel } = row;
  if (!isContact(channel)) return null;
  const isOfDelivery = (one: string) => maskAddress(channel, one) === row.address_masked;
  const contact = known.get(row.subscription_id);
  return [contact?.token, receipt.address].find((one) => one && isOfDelivery(one)) ?? null;
};

const groupIn = ({ row }: About, address: string | null): Group | null => {
  const { channel, tenant_id: tenantId, app_id: appId, provider = "" } = row;
  if (!isContact(channel) || address === null) return null;
  return { of: { tenantId, appId }, channel, provider, part: groupOf(channel, address) };
};

const causeOf = ({ row, receipt, said }: About & { said: Suppressed }, address: string | null): Cause[] => {
  const { channel, tenant_id: tenantId, app_id: appId } = row;
  if (!isContact(channel) || address === null) return [];
  return [{ of: { tenantId, appId }, channel, address, at: receipt.at, said }];
};

/** What a receipt says of its address; null when it says nothing. */
const saidBy = async ({ row, receipt }: About, marks: CausesDeps["marks"], now: Date): Promise<Suppressed | null> => {
  const because = (reason: Suppressed["reason"], more: Partial<Suppressed> = {}): Suppressed => ({
    reason,
    source: "provider",
    note: null,
    categories: null,
    expires_at: null,
    message_id: row.message_id,
    delivery_id: row._id,
    ...("providerCode" in receipt && receipt.providerCode !== null && { provider_code: receipt.providerCode }),
    ...more,
  });
  switch (receipt.kind) {
    case "bounced": {
      if (receipt.type === "hard") return because("hard_bounce");
      const bounces = await marks.add(row.subscription_id, "soft_bounces", receipt.at);
      const end = softBounceEnd(bounces, now);
      return end && because("soft_bounce", { expires_at: end });
    }
    case "complained":
      return because("complaint", { source: receipt.source });
    case "unsubscribed":
      return because("unsubscribe", { source: receipt.source, categories: receipt.categories });
    case "failed":
    case "errored":
      if (receipt.suppress === undefined) return null;
      if (receipt.isDoubtful && !isGivenUp(await marks.add(row.subscription_id, "unreachable", receipt.at)))
        return null;
      return because(receipt.suppress);
    case "sent":
    case "converted":
    case "delivered":
    case "opened":
    case "clicked":
    case "dismissed":
      return null;
  }
};
