import { seedTenant } from "../rows/fixtures.ts";
import { type Installation, installation } from "./api.ts";

export type Tenant = Awaited<ReturnType<typeof seedTenant>>;

/**
 * Sets an installation with one tenant up before the tests of the `describe` that it is called in, and closes it after
 * them. `env` is for its apiserver, `over` for the tenant's rows; both objects are filled by then.
 */
export const useSite = (env: Record<string, string> = {}, over: Parameters<typeof seedTenant>[1] = {}) => {
  const site = {} as Installation; // sound: filled before the first test
  const tenant = {} as Tenant; // sound: filled before the first test
  before(async () => {
    Object.assign(site, await installation(env));
    Object.assign(tenant, await seedTenant(site.db, over));
  });
  after(() => site.close?.());
  return { site, tenant };
};
