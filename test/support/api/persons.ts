import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { aUser, seed, seedTenant } from "../rows/fixtures.ts";
import type { Call, Reply } from "./api.ts";
import { type SeededDevice, seedDevice } from "./devices.ts";
import { identitySigner } from "./identity-tokens.ts";
import { answered } from "./reply.ts";
import { useSharedSite } from "./shared-site.ts";
import type { Tenant } from "./site.ts";

export const identityModes = ["off", "optional", "required"] as const;
export type IdentityMode = (typeof identityModes)[number];

/** Devices of people in an app of each mode of identity verification, and what they ask with. `app`: more of each app. */
export const usePersons = (app: NonNullable<Parameters<typeof seedTenant>[1]>["app"] = {}) => {
  const { site } = useSharedSite();
  const { key, sign } = identitySigner();
  const apps = new Map<IdentityMode, Tenant>();
  before(async () => {
    for (const mode of identityModes)
      apps.set(mode, await seedTenant(site.db, { app: { identity_verification: mode, identity_keys: [key], ...app } }));
  });
  const appOf = (mode: IdentityMode): Tenant => apps.get(mode) ?? expect.fail(`no app with ${mode}`);
  const users = () => site.db.collection<UserRow>("users");

  const deviceOf = async (
    mode: IdentityMode,
    over: Partial<UserRow>,
    subscription: Partial<SubscriptionRow> = {},
  ): Promise<SeededDevice> => {
    const { tenant, app } = appOf(mode);
    const user = aUser({ tenant_id: tenant._id, app_id: app._id, ...over });
    await seed(site.db, { users: [user] });
    return seedDevice(site, appOf(mode), { user, external_id: user.external_id, ...subscription });
  };
  return {
    site,
    appOf,
    sign,
    users,
    anonymous: (mode: IdentityMode, over: Partial<SubscriptionRow> = {}) => deviceOf(mode, { external_id: null }, over),
    known: (mode: IdentityMode, over: Partial<UserRow> = {}, subscription: Partial<SubscriptionRow> = {}) =>
      deviceOf(mode, { external_id: `ext-${randomUUID()}`, ...over }, subscription),
    stored: async ({ user }: SeededDevice): Promise<UserRow> =>
      (await users().findOne({ _id: user._id })) ?? expect.fail("no user"),
    tokenOf: ({ user }: SeededDevice, more: object = {}) =>
      sign(user.app_id, { external_id: user.external_id, ...more }),
    /** Asks as a device, such as `PATCH user`, with an identity token or without. */
    ask: ({ headers }: Pick<SeededDevice, "headers">, asked: string, body?: object, token?: string): Promise<Reply> => {
      const [method = "", path = ""] = asked.split(" ");
      const more: Call = {
        headers: { ...headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
        ...(body !== undefined && { body }),
      };
      return answered(site.api.call, method, `/sdk/v1/${path}`, more);
    },
  };
};

/** Why a request was refused: the status, and the reason or the member that is wrong. */
export const refusalOf = ({ status, body }: Reply): unknown[] => [
  status,
  body.error?.details?.["reason"] ?? body.error?.details?.["field"],
];
