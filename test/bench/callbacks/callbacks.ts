import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { until } from "../../support/until.ts";
import { cpuOfEach, splitOf } from "../cpu.ts";
import { atLeast } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import { startPrograms } from "../programs.ts";
import { measureFacts } from "./facts.ts";
import { aSender, connections, type Sender } from "./sender.ts";

const whole = { tenants: 4, mails: 5_000, warmUp: 500 };
const short: typeof whole = { tenants: 2, mails: 20, warmUp: 5 };

/** Callbacks of one receipt each, from the first request until every receipt is stored. */
const measureReceipts: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores }) => {
    const size = isShort ? short : whole;
    const systems = [system];
    while (systems.length < size.tenants) systems.push(await system.another());
    const senders = await Promise.all(systems.map((one) => aSender(one, { mails: size.mails, told: ["delivered"] })));
    const { apiserver, cpuUs } = await startPrograms({ system, stores }, 1);
    await Promise.all(senders.map(({ tell: say }) => say(apiserver, { kind: 0, from: 0, upTo: size.warmUp })));
    await until(async () => (await stored(senders)) === size.tenants * size.warmUp, 60_000);
    const [cpuBefore, beganMs] = [cpuUs(), performance.now()];
    const results = await Promise.all(
      senders.map(({ tell: say }) => say(apiserver, { kind: 0, from: size.warmUp, upTo: size.mails })),
    );
    const answeredMs = performance.now() - beganMs;
    const count = size.tenants * (size.mails - size.warmUp);
    await until(async () => (await stored(senders)) === size.tenants * size.mails, 120_000, 20);
    const tookMs = performance.now() - beganMs;
    const each = cpuOfEach(cpuBefore, cpuUs(), count);
    const p99Ms = Math.max(...results.map((one) => one.p99Ms));
    tell({
      name: "callbacks of one signed receipt, to stored",
      reach: atLeast(2_000),
      value: (count / tookMs) * 1_000,
      unit: "/s",
      how:
        `${count} of ${size.tenants} tenants over ${connections} connections each, HMAC-SHA256; answered in ` +
        `${Math.round(answeredMs)} ms, p99 ${p99Ms.toFixed(1)} ms; CPU of each, µs: ${splitOf(each)}`,
    });
  });

const stored = async (senders: readonly Sender[]): Promise<number> => {
  const counts = senders.map(({ system, messageId }) =>
    system.db.collection<DeliveryRow>("deliveries").countDocuments({ message_id: messageId, status: "delivered" }),
  );
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
};

/** What callbacks of providers cost, from the request to the store. */
export const callbacks: Measurements = { receipts: measureReceipts, "receipts-facts": measureFacts };
