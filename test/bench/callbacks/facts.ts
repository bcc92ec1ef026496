import { join } from "node:path";
import { type DueQuarterRow, dueQuarterCollection } from "#core/storage/analytics/due-quarters.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { farAhead } from "#core/storage/mongo/collection.ts";
import { bundle } from "../../../dev/bundle/bundle.ts";
import { devDir } from "../../../dev/files/paths.ts";
import { bundleVariable } from "../../../dev/processes/programs.ts";
import { until } from "../../support/until.ts";
import { type CpuOfEach, cpuMeter, cpuOfEach, settled, splitOf } from "../cpu.ts";
import { percent } from "../figures/compare.ts";
import { atMost } from "../figures/figure.ts";
import type { Measurement } from "../measure-all.ts";
import type { Installation } from "../servers.ts";
import { aSender, type Sender } from "./sender.ts";

const whole = { tenants: 4, mails: 1_500, warmUp: 100, turns: 2, isSettled: true };
const short: typeof whole = { tenants: 1, mails: 20, warmUp: 5, turns: 1, isSettled: false }; // others use the same stores

/** What every mail has told of it: an arrival, and two opens. */
const told = ["delivered", "opened", "opened"] as const;

/** What is kept of deliveries for analytics, left out: their counters, and all opens and clicks but the first. */
const without = {
  "core/storage/analytics/due-quarters.ts": "test/bench/callbacks/without/due-quarters.ts",
  "core/domain/messages/touches.ts": "test/bench/callbacks/without/touches.ts",
};

/**
 * Receipts from the first request until all are stored and counted, beside the same by a dispatcher that keeps nothing for analytics; by
 * turns, as stores slow down with what they hold.
 */
export const measureFacts: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async (made) => {
    const size = isShort ? short : whole;
    const folder = join(devDir, "bundle-without-facts");
    await bundle(folder, without);
    const all: Record<"with" | "without", CpuOfEach[]> = { with: [], without: [] };
    for (let turn = 0; turn < size.turns; turn++)
      for (const which of turn % 2 === 0 ? (["without", "with"] as const) : (["with", "without"] as const)) {
        const env = which === "with" ? {} : { [bundleVariable]: folder };
        all[which].push(await costOf(made, size, { env, areCounted: which === "with" }));
      }
    const [own, other] = [mean(all.with), mean(all.without)];
    const each = [...all.without, ...all.with].map(({ all: us }) => us.toFixed(0)).join(", ");
    tell({
      name: "callbacks of one signed receipt with all that analytics keeps, CPU",
      reach: atMost(115),
      value: percent(own.all, other.all),
      unit: "%",
      how:
        `${own.all.toFixed(0)} µs (${splitOf(own)}); without: ${other.all.toFixed(0)} µs (${splitOf(other)}); ` +
        `${size.turns} turns each, without first: ${each}`,
    });
  });

type Variant = { env: Record<string, string>; areCounted: boolean };

/** CPU of one receipt of some new tenants. */
const costOf = async (
  { system, stores, startOwn }: Installation,
  { tenants, mails, warmUp, isSettled }: typeof whole,
  { env, areCounted }: Variant,
): Promise<CpuOfEach> => {
  const systems = await Promise.all(Array.from({ length: tenants }, () => system.another()));
  const senders = await Promise.all(systems.map((one) => aSender(one, { mails, told })));
  const [apiserver, dispatcher] = await Promise.all([startOwn("apiserver"), startOwn("dispatcher", env)]);
  const send = async (from: number, upTo: number): Promise<void> => {
    for (let kind = 0; kind < told.length; kind++)
      await Promise.all(senders.map((one) => one.tell(apiserver, { kind, from, upTo })));
    await until(() => areStored(senders, upTo), 120_000, 50);
    if (areCounted) await until(() => isAllCounted(senders), 120_000, 100);
  };
  await send(0, warmUp);
  if (isSettled) await settled(stores);
  const cpuUs = cpuMeter(stores, { apiserver: [apiserver], dispatcher: [dispatcher] });
  const before = cpuUs();
  await send(warmUp, mails);
  const cost = cpuOfEach(before, cpuUs(), tenants * (mails - warmUp) * told.length);
  await Promise.all([apiserver.kill(), dispatcher.kill()]);
  return cost;
};

/** The last open is stored after all else of a mail, or is left out. */
const areStored = async (senders: readonly Sender[], upTo: number): Promise<boolean> => {
  const counts = await Promise.all(
    senders.map(({ system, messageId }) =>
      system.db.collection<DeliveryRow>("deliveries").countDocuments({ message_id: messageId, status: "opened" }),
    ),
  );
  return counts.every((count) => count === upTo);
};

const isAllCounted = async (senders: readonly Sender[]): Promise<boolean> => {
  const apps = senders.map(({ system }) => system.app._id);
  const rows = senders[0]?.system.db.collection<DueQuarterRow>(dueQuarterCollection.name);
  return (await rows?.countDocuments({ app_id: { $in: apps }, as_of: { $lt: farAhead } })) === 0;
};

const mean = (all: readonly CpuOfEach[]): CpuOfEach => {
  const names = Object.keys(all[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [name, all.reduce((sum, one) => sum + (one[name] ?? 0), 0) / all.length]),
  ) as CpuOfEach; // sound: each has `all`
};
