import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import { type DestinationRow, type SealedSecrets, warehouseSecretPlace } from "#core/storage/warehouse/exports.ts";
import type { Destination } from "./destination.ts";
import type { GuardedDeps } from "./guarded-agents.ts";
import { s3Destination } from "./s3.ts";

export type OpenDestination = (id: string, settings: DestinationRow, secrets: SealedSecrets) => Promise<Destination>;

/** Opens destinations with the secrets of the export of an id. It never has credentials of the installation's own. */
export const destinationOpener =
  (guarded: GuardedDeps, unseal: KeyRing["open"]): OpenDestination =>
  (id, settings, secrets) =>
    s3Destination(guarded, settings, {
      access_key_id: unseal(secrets.access_key_id, warehouseSecretPlace(id, "access_key_id")),
      secret_access_key: unseal(secrets.secret_access_key, warehouseSecretPlace(id, "secret_access_key")),
    });
