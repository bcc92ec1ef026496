import type { Clock } from "#core/domain/clock.ts";
import { defined } from "#core/domain/defined.ts";
import { enabledOf, saidOf } from "#core/domain/devices/status-detail.ts";
import { AppError, invalid } from "#core/errors.ts";
import type { UpdateDevice } from "#core/schema/devices/subscription.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import { type Devices, isToken, noToken } from "#core/storage/people/devices.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { isEnded, type Subscriptions } from "#core/storage/people/subscriptions.ts";
import type { Device } from "../access/device.ts";
import type { RequireSubscribers } from "../limits/subscriber-quota.ts";
import type { FollowStatus } from "../people/follow-status.ts";
import { revived } from "../people/register-subscription.ts";
import { type Addressed, changedAddress } from "../people/subscription-checks.ts";

export type UpdateDeps = {
  subscriptions: Pick<Subscriptions, "find" | "findByToken" | "update">;
  devices: Pick<Devices, "change" | "release">;
  requireSubscribers: RequireSubscribers;
  followStatus: FollowStatus;
  /** Publishes what is in an outbox, without being waited for. */
  publish: (row: SubscriptionRow) => void;
  clock: Clock;
};

const attempts = 5; // each lost to another change of the same subscription

/** Changes the subscription of a device. A token that another one has moves here, and that one is invalid. */
export const updateDevice =
  (deps: UpdateDeps) =>
  async (device: Device, found: SubscriptionRow, body: UpdateDevice): Promise<SubscriptionRow> => {
    const { subscriptions, devices, publish, clock } = deps;
    const address = addressIn(found, body);
    let read: SubscriptionRow | null = found;
    for (let attempt = 0; attempt < attempts && read !== null; attempt++) {
      const change = changeOf(read, body, address, clock.now());
      if (read.status === "invalid" && change.status !== undefined)
        await deps.requireSubscribers(device, [{ ...read, ...change }]);
      const isPlain = change.token === undefined && !isEnded(read, change);
      const updated = isPlain
        ? await devices.change({ read, change })
        : await subscriptions.update(read.tenant_id, read, change);
      if (updated === "taken") await takeOver(deps, { ...read, ...change });
      else if (updated !== null) {
        if (isEnded(read, updated)) publish(updated);
        await deps.followStatus(updated, body.enabled === undefined ? undefined : wishOf(body.enabled));
        return updated;
      }
      read = await subscriptions.find(ofRow(read), read._id);
    }
    throw new AppError("HS_CONFLICT", "the subscription is being changed by others", { status: "busy" });
  };

const wishOf = (isEnabled: boolean): "subscribed" | "unsubscribed" => (isEnabled ? "subscribed" : "unsubscribed");

const takeOver = async ({ subscriptions, devices, clock }: UpdateDeps, wanted: SubscriptionRow): Promise<void> => {
  const holder = await subscriptions.findByToken(ofRow(wanted), wanted.channel, wanted.token);
  if (holder !== null && holder._id !== wanted._id) await devices.release(holder, clock.now());
};

/** Its new address; null stands for none. */
const addressIn = (
  { channel, install, _id }: SubscriptionRow,
  { token, web, device }: UpdateDevice,
): Partial<Addressed> => {
  if (token !== null) return changedAddress(channel, { ...defined({ token, web }), ...(device && { device }) });
  if (web !== undefined) throw invalid("web", "belongs to a token");
  return { token: noToken(install?.id ?? _id), web: null };
};

const changeOf = (
  read: SubscriptionRow,
  body: UpdateDevice,
  address: Partial<Addressed>,
  now: Date,
): Partial<SubscriptionRow> => {
  const { enabled, language, device, status_detail, token } = body;
  const hasToken = isToken(address.token ?? read.token);
  const isSilent = status_detail === undefined && token === undefined;
  const detail = hasToken || isSilent ? status_detail : Math.min(status_detail ?? 0, 0); // none permits anything
  const isRenewed = address.token !== undefined && address.token !== read.token && isToken(address.token);
  const renewed: Partial<SubscriptionRow> = isRenewed ? revived(read, now) : {};
  const said = detail === undefined ? {} : saidOf(detail, { ...read, ...renewed }, now);
  return {
    ...address,
    ...renewed,
    ...said,
    ...(enabled !== undefined && enabledOf(enabled, read, { hasToken, now })),
    ...defined({ language, device, status_detail: detail }),
    last_active_at: now,
    updated_at: now,
  };
};
