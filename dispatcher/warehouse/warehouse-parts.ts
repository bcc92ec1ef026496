import type { Db } from "mongodb";
import { systemClock } from "#core/domain/clock.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { dns } from "#core/runtime/http/resolve.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { hashKeys } from "#core/storage/warehouse/hash-keys.ts";
import type { MailServer } from "../work/mailer.ts";
import { destinationOpener } from "./destinations/open.ts";
import { closedWith, warehouseMails } from "./owner-mails.ts";
import { warehouseTests } from "./tests.ts";

export type WarehousePartsDeps = {
  config: { allowedRanges: readonly string[]; allowedPorts: readonly number[] };
  nats: Pick<Nats, "nc">;
  subjects: Pick<Subjects, "warehouseTests">;
  db: Db;
  mail: MailServer | null;
  secrets: Pick<KeyRing, "open" | "seal">;
  stopping: AbortSignal;
  log: Log;
};

/** What the jobs of warehouse exports use: connections to stores of others, guarded as those to endpoints are. */
export const warehouseParts = (deps: WarehousePartsDeps) => {
  const { allowedRanges: allow, allowedPorts: ports } = deps.config;
  const guarded = { guard: addressGuard({ allow, ports }), resolve: dns() };
  const openDestination = destinationOpener({ ...guarded, unseal: deps.secrets.open, clock: systemClock });
  const subject = deps.subjects.warehouseTests();
  const mails = warehouseMails(deps);
  const tests = closedWith(warehouseTests({ ...deps, openDestination, subject }), mails);
  const hashKeyOf = hashKeys(deps.db, deps.secrets);
  return { openDestination, hashKeyOf, warehouseTests: tests, warehouseMails: mails };
};
