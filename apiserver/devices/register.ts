import type { Clock } from "#core/domain/clock.ts";
import { defined } from "#core/domain/defined.ts";
import { saidOf } from "#core/domain/devices/status-detail.ts";
import { newId } from "#core/domain/ids.ts";
import { AppError } from "#core/errors.ts";
import type { RegisterDevice } from "#core/schema/devices/subscription.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { type Contacts, newContacts } from "#core/storage/people/contacts.ts";
import { type Devices, newSecret, noToken } from "#core/storage/people/devices.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import type { Device } from "../access/device.ts";
import type { RequireSubscribers } from "../limits/subscriber-quota.ts";
import { revived } from "../people/register-subscription.ts";
import { type Addressed, addressOf } from "../people/subscription-checks.ts";

export type RegisterDeps = {
  devices: Pick<Devices, "byToken" | "rotate" | "release">;
  contacts: Pick<Contacts, "add">;
  requireSubscribers: RequireSubscribers;
  /** Publishes what is in their outboxes, without being waited for. */
  publish: (user: UserRow | null, row: SubscriptionRow) => void;
  clock: Clock;
};

/** `secret`: of the installation from now on. */
export type Registered = { row: SubscriptionRow; secret: string; isNew: boolean };

/** Throws what is not to be done for an installation that there is; null for a new one. */
type Check = (known: SubscriptionRow | null) => void;

const attempts = 3; // each lost to another registration of the same token

/**
 * Gives an installation a subscription of an anonymous user. The same installation with the same token gets another secret,
 * and the one before ends; a token that another subscription had moves to the new one, and that one is invalid: one device
 * has one subscription. Source: docs/reference/devices.md#registration.
 */
export const registerDevice =
  (deps: RegisterDeps) =>
  async (device: Device, body: RegisterDevice, check: Check = () => undefined): Promise<Registered> => {
    const addressed = addressOfDevice(body);
    for (let attempt = 0; attempt < attempts; attempt++) {
      const holder = await deps.devices.byToken(ofApp(device.app), addressed.channel, addressed.token);
      const isSame = holder?.install?.id === body.install_id.toLowerCase();
      check(isSame ? holder : null);
      const registered =
        holder !== null && isSame
          ? await again(deps, device, { holder, body, addressed })
          : await anew(deps, device, { holder, body, addressed });
      if (registered !== null) return registered;
    }
    throw new AppError("HS_CONFLICT", "the token is being registered by others", { status: "busy" });
  };

/** The address of an installation, which stands for its token as long as it has none. */
export const addressOfDevice = (body: RegisterDevice): Addressed => {
  const { channel, token, web, install_id: installId, device } = body;
  if (token === undefined || token === null) return { channel, token: noToken(installId), web: null };
  return addressOf({ channel, token, ...(web && { web }), ...(device && { device }) });
};

type Wanted = { holder: SubscriptionRow | null; body: RegisterDevice; addressed: Addressed };

/** Null when the subscription is gone, or has another token, meanwhile. */
const again = async (
  { devices, requireSubscribers, clock }: RegisterDeps,
  device: Device,
  { holder, body, addressed }: Wanted & { holder: SubscriptionRow },
): Promise<Registered | null> => {
  if (holder.status === "invalid") await requireSubscribers(device, [holder]);
  const { text: secret, hash } = newSecret();
  const now = clock.now();
  const change = {
    web: addressed.web,
    ...revived(holder, now),
    ...saidBy(body, holder, now),
    ...installOf(body, hash),
  };
  const row = await devices.rotate(holder, change);
  return row === null ? null : { row, secret, isNew: false };
};

/** Null when another registration was quicker. */
const anew = async (deps: RegisterDeps, device: Device, wanted: Wanted): Promise<Registered | null> => {
  const { holder, body, addressed } = wanted;
  const now = deps.clock.now();
  const of = ofApp(device.app);
  if (holder === null || holder.status === "invalid")
    await deps.requireSubscribers(device, [{ tenant_id: of.tenantId, app_id: of.appId, ...addressed }]);
  if (holder !== null && !(await deps.devices.release(holder, now))) return null;
  const { text: secret, hash } = newSecret();
  const { channel, token, web } = addressed;
  const [made] = newContacts(of, { wanted: [{ channel, token }], known: [] }, (kind) => newId(kind, now), now);
  const [blank] = made?.subscriptions ?? [];
  if (made === undefined || blank === undefined) throw new Error("an address makes a subscription");
  const row = { ...blank, web, ...saidBy(body, blank, now), ...installOf(body, hash) };
  const [kept] = await deps.contacts.add([{ ...made, subscriptions: [row] }]);
  if (kept === undefined) return null;
  deps.publish(kept.user, row);
  return { row, secret, isNew: true };
};

const installOf = (body: RegisterDevice, secret_hash: string): Pick<SubscriptionRow, "install"> => ({
  install: { id: body.install_id.toLowerCase(), secret_hash },
});

/** What a device says of itself. Without a token it has no permission, whatever it says. */
const saidBy = (body: RegisterDevice, read: SubscriptionRow, now: Date): Partial<SubscriptionRow> => {
  const { device, language, status_detail, token, test_device } = body;
  const detail = token === undefined || token === null ? Math.min(status_detail ?? 0, 0) : status_detail;
  return {
    ...defined({ device, language, status_detail: detail, test_device }),
    ...(detail !== undefined && saidOf(detail, read, now)),
    last_active_at: now,
    updated_at: now,
  };
};
