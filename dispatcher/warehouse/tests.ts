import { randomUUID } from "node:crypto";
import type { Msg } from "@nats-io/nats-core";
import { testKey } from "#core/domain/warehouse/keys.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { WarehouseTestResult } from "#core/schema/warehouse/export.ts";
import { type WarehouseTestReply, WarehouseTestRequest } from "#core/schema/warehouse/test.ts";
import { testAnswers } from "../work/test-answers.ts";
import { type Destination, DestinationError } from "./destinations/destination.ts";
import type { OpenDestination } from "./destinations/open.ts";

export type WarehouseTestsDeps = {
  nats: Pick<Nats, "nc">;
  subject: string;
  openDestination: OpenDestination;
  stopping: AbortSignal;
  log: Log;
};

const read = parser(WarehouseTestRequest);

const mostAtOnce = 16;
const mostMs = 30_000;

/** Answers requests for tests of destinations. */
export const warehouseTests = (deps: WarehouseTestsDeps): Part =>
  testAnswers({ ...deps, what: "warehouse", mostAtOnce, test: (message) => test(deps, message) });

const test = async (deps: WarehouseTestsDeps, message: Msg): Promise<WarehouseTestReply> => {
  const { export_id: id, destination: settings, secrets } = read(message.json());
  const destination = await deps.openDestination(id, settings, secrets);
  const signal = AbortSignal.any([deps.stopping, AbortSignal.timeout(mostMs)]);
  try {
    return { outcome: "tested", steps: await testDestination(destination, settings.prefix, signal) };
  } finally {
    destination.close();
  }
};

type Step = WarehouseTestResult["steps"][0];

/** Writes a small file and removes it again. It ends with the first step that fails, and removes what it wrote. */
export const testDestination = async (
  destination: Destination,
  prefix: string,
  signal: AbortSignal,
): Promise<Step[]> => {
  const key = testKey(prefix, randomUUID());
  const body = Buffer.from("written by a test of a warehouse export; it can be removed\n");
  const steps: Step[] = [];
  const remove = () => destination.remove(key, signal);
  const readBack = async (): Promise<void> => {
    const found = await destination.read(key, body.byteLength, signal);
    if (found === null || !found.equals(body))
      throw new DestinationError("INTERNAL", "the store gives back other bytes than it took");
  };
  const all: [Step["name"], () => Promise<unknown>][] = [
    ["resolve", () => destination.resolve(signal)],
    ["authenticate", () => destination.authenticate(signal)],
    ["write", () => destination.write({ key, body, contentType: "text/plain" }, "over", signal)],
    ["read_back", readBack],
    ["delete", remove],
    ["list", () => destination.list(prefix, signal)],
  ];
  for (const [name, make] of all) {
    const step = await timed(name, make, signal);
    steps.push(step);
    if (step.ok) continue;
    if (name === "read_back") await remove().catch(() => undefined); // best effort: it says what it is
    break;
  }
  return steps;
};

const timed = async (name: Step["name"], make: () => Promise<unknown>, signal: AbortSignal): Promise<Step> => {
  const beganMs = performance.now();
  const message = await make().then(
    () => null,
    (error: unknown) => {
      if (error instanceof DestinationError) return `${error.code}: ${error.message}`;
      if (signal.aborted) return "NETWORK: it took too long";
      throw error;
    },
  );
  return { name, ok: message === null, message, duration_ms: Math.round(performance.now() - beganMs) };
};
