import { BlockList } from "node:net";
import type { Clock } from "#core/domain/clock.ts";
import { type FieldError, refuse } from "#core/errors.ts";
import type { UpdateApiKey } from "#core/schema/api-keys/api-key.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { networksOf } from "../access/allowed-addresses.ts";
import type { By } from "../settings/audit.ts";

export type CheckDeps = { findApp: (id: string) => Promise<AppRow | null>; clock: Clock };

/** What a schema cannot say of a key: apps that are the organisation's, an end to come, networks that there are. */
export const checkApiKey =
  ({ findApp, clock }: CheckDeps) =>
  async ({ caller }: By, body: UpdateApiKey): Promise<void> => {
    const errors: FieldError[] = [];
    const { app_ids: ids, expires_at: end, allowed_addresses: networks } = body;
    if (typeof end === "string" && new Date(end) <= clock.now())
      errors.push({ field: "expires_at", message: "is over" });
    for (const [at, network] of (networks ?? []).entries())
      if (!isNetwork(network)) errors.push({ field: `allowed_addresses[${at}]`, message: "is no network" });
    for (const [at, id] of (ids ?? []).entries())
      if ((await findApp(id))?.tenant_id !== caller.tenant._id)
        errors.push({ field: `app_ids[${at}]`, message: "is no app of the organisation" });
    refuse(errors);
  };

const isNetwork = (network: string): boolean => {
  try {
    return networksOf([network]) instanceof BlockList;
  } catch {
    return false; // Node refuses what it cannot read
  }
};
