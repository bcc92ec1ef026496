import { NotFound } from "#core/errors.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { ownSubscription } from "../access/device.ts";
import type { Located } from "../http/route.ts";
import type { DeviceUse } from "./use-cases.ts";

/** The device's own subscription, which the path names: those of others are not there. */
export const ownOfPath = async ({ device, params }: Located<DeviceUse>): Promise<SubscriptionRow> => {
  const own = ownSubscription(device);
  if (own._id !== params["subscriptionId"]) throw new NotFound("subscription");
  return own;
};
