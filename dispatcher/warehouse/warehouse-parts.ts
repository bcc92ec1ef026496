import type { Nats } from "#core/queue/jetstream/connect.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { dns } from "#core/runtime/http/resolve.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { destinationOpener } from "./destinations/open.ts";
import { warehouseTests } from "./tests.ts";

export type WarehousePartsDeps = {
  config: { allowedRanges: readonly string[]; allowedPorts: readonly number[] };
  nats: Pick<Nats, "nc">;
  subjects: Pick<Subjects, "warehouseTests">;
  unseal: KeyRing["open"];
  stopping: AbortSignal;
  log: Log;
};

/** What the jobs of warehouse exports use: connections to stores of others, guarded as those to endpoints are. */
export const warehouseParts = (deps: WarehousePartsDeps) => {
  const { allowedRanges: allow, allowedPorts: ports } = deps.config;
  const openDestination = destinationOpener({ guard: addressGuard({ allow, ports }), resolve: dns() }, deps.unseal);
  const subject = deps.subjects.warehouseTests();
  return { openDestination, warehouseTests: warehouseTests({ ...deps, openDestination, subject }) };
};
