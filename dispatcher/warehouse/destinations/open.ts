import type { Clock } from "#core/domain/clock.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import { type WarehouseSecret, warehouseSecrets } from "#core/schema/warehouse/destination.ts";
import { type DestinationRow, type SealedSecrets, warehouseSecretPlace } from "#core/storage/warehouse/exports.ts";
import { azureDestination } from "./azure.ts";
import type { Destination } from "./destination.ts";
import { gcsDestination } from "./gcs.ts";
import type { GuardedDeps } from "./guarded-agents.ts";
import { s3Destination } from "./s3.ts";

export type OpenDestination = (id: string, settings: DestinationRow, secrets: SealedSecrets) => Promise<Destination>;

export type OpenDeps = GuardedDeps & { unseal: KeyRing["open"]; clock: Clock };

/** Opens destinations with the secrets of the export of an id. It never has credentials of the installation's own. */
export const destinationOpener =
  ({ unseal, ...deps }: OpenDeps): OpenDestination =>
  (id, settings, sealed) => {
    const secrets = Object.fromEntries(
      warehouseSecrets.flatMap((name) => {
        const one = sealed[name];
        return one === undefined ? [] : [[name, unseal(one, warehouseSecretPlace(id, name))]];
      }),
    ) as OpenedSecrets; // sound: texts by those names
    if (settings.type === "gcs") return gcsDestination(deps, settings, secrets);
    return settings.type === "azure_blob"
      ? azureDestination(deps, settings, secrets)
      : s3Destination(deps, settings, secrets);
  };

/** The secrets that a destination has. */
export type OpenedSecrets = Partial<Record<WarehouseSecret, string>>;
