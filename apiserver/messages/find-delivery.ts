import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { Messages } from "#core/storage/messages/messages.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";

export type FindDeliveryDeps = {
  deliveries: { find: (of: OfApp, id: string) => Promise<DeliveryRow | null> };
  messages: Pick<Messages, "find">;
};

/** A delivery of an app, with what its message is a part of. */
export const findDelivery =
  ({ deliveries, messages }: FindDeliveryDeps) =>
  async (of: OfApp, id: string, signal: AbortSignal): Promise<(DeliveryRow & { campaign_id?: string }) | null> => {
    const found = await deliveries.find(of, id);
    if (found === null) return null;
    const { campaign_id } = (await messages.find(of.tenantId, found.message_id, signal)) ?? {};
    return campaign_id === undefined ? found : { ...found, campaign_id };
  };
