import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "mongodb";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { type TenantRow, tenants } from "#core/storage/tenants/tenants.ts";

/** Whether a tenant is the one that HERALD_OPERATING_TENANT names: by its own name, or by that of its Tenant. */
export const isCalled = ({ name, managed }: Pick<TenantRow, "name" | "managed">, wanted: string): boolean =>
  name === wanted || managed?.name === wanted;

export type OperatingTenantDeps = {
  db: Db;
  /** The setting; not given: no tenant operates, and nothing is checked. */
  name: string | undefined;
  /** How long a tenant that is not there is waited for: at an install resources are applied while programs start. */
  waitMs?: number;
  log: Log;
};

const pollMs = 1_000;

/**
 * Stops the start when the setting names no tenant, or more than one. While there is no tenant at all, which is so until
 * the first resources are applied, the program starts, with a warning: nobody can call it.
 */
export const operatingTenant = ({ db, name, waitMs = 30_000, log }: OperatingTenantDeps): Part => ({
  name: "operating tenant",
  start: async (signal) => {
    if (name === undefined) return;
    const store = tenants(db);
    const until = performance.now() + waitMs;
    for (;;) {
      const found = await store.namedBy(name);
      if (found.length > 1) throw new Error(`HERALD_OPERATING_TENANT: ${name} names two tenants: ${found.join(", ")}`);
      if (found.length === 1) return;
      if (!(await store.hasAny())) return log.warn({ tenant: name }, "operating_tenant.awaited");
      if (performance.now() >= until) throw new Error(unknown(name));
      await sleep(pollMs, undefined, { signal });
    }
  },
  stop: async () => {},
});

const unknown = (name: string): string =>
  `HERALD_OPERATING_TENANT: there is no tenant ${name}: it takes the name of a Tenant, metadata.name or spec.displayName`;
