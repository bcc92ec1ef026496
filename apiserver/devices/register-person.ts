import type { DeviceLogin, RegisterDevice } from "#core/schema/devices/subscription.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Device } from "../access/device.ts";
import { identityRefused } from "../access/identity.ts";
import { reportingPerson } from "../access/person.ts";
import { type LoggedIn, provenAs } from "./login.ts";
import type { ofPerson } from "./person.ts";
import type { Registered, registerDevice } from "./register.ts";

export type RegisterPersonDeps = {
  register: ReturnType<typeof registerDevice>;
  logIn: (device: Device, body: DeviceLogin, signal: AbortSignal) => Promise<LoggedIn>;
  update: ReturnType<typeof ofPerson>["update"];
};

/**
 * Registers a device that says at once whose it is, and what they are like. What is refused of that is, before anything is
 * changed. @throws AppError HS_IDENTITY_TOKEN_INVALID
 */
export const registerPerson =
  ({ register, logIn, update }: RegisterPersonDeps) =>
  async (device: Device, { external_id, tags, ...body }: RegisterDevice, signal: AbortSignal): Promise<Registered> => {
    if (external_id !== undefined) provenAs(device, external_id);
    const check = (known: SubscriptionRow | null): void => {
      if (tags !== undefined && external_id === undefined) mayReport(device, known);
    };
    const registered = await register(device, body, check);
    const { row } = registered;
    const loggedIn =
      external_id === undefined ? null : await logIn({ ...device, subscription: row }, { external_id }, signal);
    const own = { ...row, ...(loggedIn !== null && { user_id: loggedIn.user_id }) };
    if (tags !== undefined) await update(own, { tags });
    return { ...registered, row: own };
  };

/** Refuses what the device could not say of the person whose it is already; a new one is nobody's. */
const mayReport = (device: Device, known: SubscriptionRow | null): void => {
  if (known !== null) reportingPerson({ ...device, subscription: known });
  else if (device.identity !== null)
    throw identityRefused("identity_mismatch", "a new device is nobody's: `external_id` says whose it is to be");
};
