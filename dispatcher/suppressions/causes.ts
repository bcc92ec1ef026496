import { maskAddress } from "#core/channels/addresses.ts";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import { softBounceEnd } from "#core/domain/suppressions/effects.ts";
import type { Suppressed } from "#core/domain/suppressions/strength.ts";
import { isContact } from "#core/schema/vocabulary/channels.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { Contact } from "#core/storage/people/ended.ts";
import type { Cause } from "./suppress.ts";

export type CausesDeps = {
  byId: (subscriptionIds: readonly string[]) => Promise<Contact[]>;
  softBounces: {
    add: (subscriptionId: string, at: Date) => Promise<Contact | null>;
    forget: (subscriptionIds: readonly string[]) => Promise<void>;
  };
};

/** A receipt with the delivery that it is about. */
export type About = { row: DeliveryRow; receipt: Receipt };

/** Which addresses get no more messages because of receipts. Source: docs/reference/suppressions.md#reasons. */
export const causesOf =
  ({ byId, softBounces }: CausesDeps) =>
  async (all: readonly About[], now: Date): Promise<Cause[]> => {
    const through = all.filter(({ row, receipt }) => row.channel === "email" && receipt.kind === "delivered");
    await softBounces.forget(through.map(({ row }) => row.subscription_id));
    const said = await Promise.all(all.map(async (about) => ({ about, said: await saidBy(about, softBounces, now) })));
    const found = said.flatMap(({ about, said: one }) => (one === null ? [] : [{ ...about, said: one }]));
    if (found.length === 0) return [];
    const contacts = await byId(found.map(({ row }) => row.subscription_id));
    const known = new Map(contacts.map((one) => [one._id, one]));
    return found.flatMap((one) => causeOf(one, known.get(one.row.subscription_id)));
  };

const causeOf = (
  { row, receipt, said }: About & { said: Suppressed },
  contact: Pick<Contact, "token"> | undefined,
): Cause[] => {
  const { channel, tenant_id: tenantId, app_id: appId } = row;
  if (!isContact(channel)) return []; // devices are not suppressed by their token
  const isOfDelivery = (one: string) => maskAddress(channel, one) === row.address_masked;
  const address = [contact?.token, receipt.address].find((one) => one && isOfDelivery(one)); // its own, unless it changed
  return address ? [{ of: { tenantId, appId }, channel, address, at: receipt.at, said }] : [];
};

/** What a receipt says of its address; null when it says nothing. */
const saidBy = async (
  { row, receipt }: About,
  softBounces: CausesDeps["softBounces"],
  now: Date,
): Promise<Suppressed | null> => {
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
      const bounces = (await softBounces.add(row.subscription_id, receipt.at))?.soft_bounces ?? [];
      const end = softBounceEnd(bounces, now);
      return end && because("soft_bounce", { expires_at: end });
    }
    case "complained":
      return because("complaint", { source: receipt.source });
    case "unsubscribed":
      return because("unsubscribe", { source: receipt.source, categories: receipt.categories });
    case "failed":
    case "errored":
      return receipt.suppress === undefined ? null : because(receipt.suppress);
    case "sent":
    case "converted":
    case "delivered":
    case "opened":
    case "clicked":
      return null;
  }
};
