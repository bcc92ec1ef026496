import { AppError, Unavailable } from "#core/errors.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import type { AddressGuard } from "#core/runtime/http/address-guard.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { TestWarehouseExport, WarehouseTestResult } from "#core/schema/warehouse/export.ts";
import { WarehouseTestReply, type WarehouseTestRequest } from "#core/schema/warehouse/test.ts";
import { destinationOf, mergedSecrets } from "#core/storage/warehouse/destinations.ts";
import {
  type DestinationRow,
  type SealedSecrets,
  type WarehouseExportRow,
  warehouseSecretPlace,
} from "#core/storage/warehouse/exports.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { LateNats } from "../publishing/late-nats.ts";
import { checkMembers, sealedOf } from "./members.ts";

export type TestDeps = {
  limit: NarrowLimit;
  nats: Pick<LateNats, "ask">;
  subjects: Pick<Subjects, "warehouseTests">;
};

/** What is tested: a destination with secrets that are sealed for the export of this id. */
export type Tested = { id: string; destination: DestinationRow; secrets: SealedSecrets };

const timeoutMs = 35_000; // a dispatcher gives up after 30 s

/** Has a dispatcher try a destination now, step by step: only dispatchers have connections to stores of others. */
export const testSteps =
  ({ limit, nats, subjects }: TestDeps) =>
  async (appId: string, { id, destination, secrets }: Tested): Promise<WarehouseTestResult> => {
    await limit("warehouse.test", appId);
    const asked: WarehouseTestRequest = { export_id: id, destination, secrets };
    const reply = parse(await nats.ask(subjects.warehouseTests(), asked, timeoutMs));
    if (reply.outcome === "busy") throw new Unavailable("a dispatcher");
    if (reply.outcome === "failed" || reply.steps === undefined)
      throw new AppError("HS_INTERNAL_ERROR", "the test could not be made");
    return { ok: reply.steps.every(({ ok }) => ok), steps: reply.steps };
  };

const parse = parser(WarehouseTestReply);

export type TestDestination = (appId: string, tested: Tested) => Promise<void>;

/** The same for what must pass. @throws AppError HS_DESTINATION_UNREACHABLE with the step that did not */
export const requireReachable =
  (test: ReturnType<typeof testSteps>): TestDestination =>
  async (appId, tested) => {
    const failed = (await test(appId, tested)).steps.find(({ ok }) => !ok);
    if (failed === undefined) return;
    const { name: step, message } = failed;
    throw new AppError("HS_DESTINATION_UNREACHABLE", `the destination did not pass the step ${step}: ${message}`, {
      step,
      message,
    });
  };

/** Tries an export as it is set up, or with a destination that is not stored; secrets that it lacks are the stored ones. */
export const testSaved =
  ({ guard, secrets, test }: TestSavedDeps) =>
  (found: WarehouseExportRow, { destination: given }: TestWarehouseExport): Promise<WarehouseTestResult> => {
    if (given === undefined) return test(found.app_id, { ...found, id: found._id });
    checkMembers(guard, { destination: given }, found.datasets, found);
    const sealed = sealedOf(secrets, given, (name) => warehouseSecretPlace(found._id, name));
    const destination = destinationOf(given);
    return test(found.app_id, {
      id: found._id,
      destination,
      secrets: mergedSecrets(found.destination.type, found.secrets, sealed),
    });
  };

type TestSavedDeps = {
  guard: Pick<AddressGuard, "problemOf">;
  secrets: Pick<KeyRing, "seal">;
  test: ReturnType<typeof testSteps>;
};
