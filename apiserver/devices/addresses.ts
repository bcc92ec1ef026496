import { checkAddress, contactKey } from "#core/channels/addresses.ts";
import { defined } from "#core/domain/defined.ts";
import { invalid } from "#core/errors.ts";
import type { AddEmail, AddressAdded } from "#core/schema/devices/address.ts";
import type { Users } from "#core/storage/people/users.ts";
import type { Device } from "../access/device.ts";
import { grantedPerson } from "../access/person.ts";
import type { People } from "../people/use-cases.ts";
import { ownerOf } from "./person.ts";

export type AddressDeps = Pick<People, "registerSubscription" | "limits"> & { users: Pick<Users, "find"> };

/**
 * Gives the person of a device a mail address, or a phone number. One that another person has moves: their token says that it
 * is theirs. @throws ValidationError, AppError HS_IDENTITY_TOKEN_INVALID, HS_CONFLICT, HS_QUOTA_EXCEEDED
 */
export const addAddress =
  ({ registerSubscription, limits, users }: AddressDeps) =>
  async (
    device: Device,
    channel: "email" | "sms",
    body: AddEmail,
  ): Promise<{ reply: AddressAdded; isNew: boolean }> => {
    const { address, opted_in: isWanted } = body;
    const checked = checkAddress(channel, address);
    if (!checked.ok) throw invalid("address", checked.problem);
    const addressed = checked.address;
    const own = grantedPerson(device, contactKey(channel, addressed));
    await limits.registration(device.app._id, { channel, token: addressed });
    const status = wishes[String(isWanted)];
    const user = await ownerOf({ users }, own);
    const { row, isNew } = await registerSubscription(device, user, {
      channel,
      token: addressed,
      ...defined({ status }),
    });
    return { reply: { subscription_id: row._id, user_id: row.user_id, channel, status: row.status }, isNew };
  };

const wishes: Partial<Record<string, "subscribed" | "unsubscribed">> = { true: "subscribed", false: "unsubscribed" };
