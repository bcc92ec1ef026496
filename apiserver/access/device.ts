import { AppError, NotFound } from "#core/errors.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Directory } from "#core/storage/directory.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import type { Devices } from "#core/storage/people/devices.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Caller } from "./caller.ts";
import type { Identity, VerifyIdentity } from "./identity.ts";
import { requirePlan, suspension } from "./tenant.ts";

/** A device that calls: of which app, which subscription it has proven to be, and for whom its identity token vouches. */
export type Device = Pick<Caller, "tenant" | "plan"> & {
  app: AppRow;
  subscription: SubscriptionRow | null;
  identity: Identity | null;
};

/** What a device says of itself in headers; empty where it says nothing. `source`: whose requests are counted together. */
export type Said = { appId: string; secret: string; identityToken: string; hasKey: boolean; source: string };

/**
 * Finds the app that a device names, and the subscription whose secret it has. Source:
 * docs/reference/devices.md#authentication.
 * @throws AppError HS_UNAUTHENTICATED, HS_ORGANIZATION_SUSPENDED, NotFound for an unknown app
 */
export type FindDevice = (said: Said) => Promise<Device>;

export type FindDeviceDeps = Pick<Directory, "app" | "tenant" | "plan"> & {
  devices: Pick<Devices, "bySecret">;
  verifyIdentity: VerifyIdentity;
  /** Counts a request of a device, or a token that is not accepted. @throws RateLimited */
  limit: (rate: "sdk.subscription" | "sdk.auth", id: string) => Promise<void>;
};

export const findDevice =
  (deps: FindDeviceDeps): FindDevice =>
  async ({ appId, secret, identityToken, hasKey, source }) => {
    const { app: appOf, tenant: tenantOf, plan: planOf, devices, limit } = deps;
    if (hasKey) throw refused("invalid", "devices have no API key: they never send one");
    if (appId === "") throw refused("missing", `the id of the app is required in ${appHeader}`);
    const app = await appOf(appId);
    const tenant = app === null ? null : await tenantOf(app.tenant_id);
    if (app === null || tenant === null) throw new NotFound("app");
    if (tenant.suspended) throw suspension(tenant);
    const plan = requirePlan(await planOf(tenant.plan));
    const subscription = secret === "" ? null : await devices.bySecret(ofApp(app), secret);
    if (secret !== "" && subscription === null) throw refused("invalid", `the secret in ${secretHeader} is not known`);
    if (subscription !== null) await limit("sdk.subscription", subscription._id);
    const identity = identityToken === "" ? null : await identityOf(deps, app, identityToken, source);
    return { app, tenant, plan, subscription, identity };
  };

/** Tokens that are not accepted are counted by where they come from. */
const identityOf = async (
  { verifyIdentity, limit }: FindDeviceDeps,
  app: AppRow,
  token: string,
  source: string,
): Promise<Identity> => {
  try {
    return await verifyIdentity(app, token);
  } catch (error) {
    if (error instanceof AppError) await limit("sdk.auth", `${app._id} ${source}`);
    throw error;
  }
};

export const appHeader = "X-HS-App-Id";
export const secretHeader = "X-HS-Subscription-Token";

/** The subscription of a device. @throws AppError HS_UNAUTHENTICATED where it has not proven any */
export const ownSubscription = ({ subscription }: Device): SubscriptionRow => {
  if (subscription === null) throw refused("missing", `the secret of a subscription is required in ${secretHeader}`);
  return subscription;
};

/** The device's own subscription, where all that it sends is about that. */
export const ownOf = (device: Device, items: readonly { subscription_id?: string }[]): SubscriptionRow => {
  const own = ownSubscription(device);
  if (items.some(({ subscription_id: id = own._id }) => id !== own._id)) throw new NotFound("subscription");
  return own;
};

const refused = (reason: "missing" | "invalid", message: string): AppError =>
  new AppError("HS_UNAUTHENTICATED", message, { reason });
