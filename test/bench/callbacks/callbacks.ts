import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { seedMails } from "../../support/callbacks/deliveries.ts";
import { signedMailgun } from "../../support/callbacks/signed.ts";
import { allAccounts, testKeyRing } from "../../support/rows/fixtures.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { cpuOfEach, splitOf } from "../cpu.ts";
import { atLeast } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import { type LoadResult, runLoad } from "../messages/load.ts";
import { startPrograms } from "../programs.ts";

const whole = { tenants: 4, mails: 5_000, warmUp: 500 };
const short: typeof whole = { tenants: 2, mails: 20, warmUp: 5 };
const signingKey = "bench-signing-key";
const connections = 16; // of each tenant's provider

/** Callbacks of one receipt each, from the first request until every receipt is stored. */
const measureReceipts: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores }) => {
    const size = isShort ? short : whole;
    const systems = [system];
    while (systems.length < size.tenants) systems.push(await system.another());
    const senders = await Promise.all(systems.map((one) => aSender(one, size)));
    const { apiserver, cpuUs } = await startPrograms({ system, stores }, 1);
    await Promise.all(senders.map(({ tell: say }) => say(apiserver, 0, size.warmUp)));
    await until(async () => (await stored(senders)) === size.tenants * size.warmUp, 60_000);
    const [cpuBefore, beganMs] = [cpuUs(), performance.now()];
    const results = await Promise.all(senders.map(({ tell: say }) => say(apiserver, size.warmUp, size.mails)));
    const answeredMs = performance.now() - beganMs;
    const count = size.tenants * (size.mails - size.warmUp);
    await until(async () => (await stored(senders)) === size.tenants * size.mails, 120_000, 20);
    const tookMs = performance.now() - beganMs;
    const failures = results.flatMap((one) => Object.entries(one.failures));
    if (failures.length > 0) throw new Error(`callbacks that were refused: ${JSON.stringify(failures)}`);
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

type Sender = {
  system: System;
  messageId: string;
  tell: (to: SystemProgram, from: number, upTo: number) => Promise<LoadResult>;
};

/** A tenant whose mail provider signs with a key, and mails that were sent. */
const aSender = async (system: System, { mails: count }: typeof whole): Promise<Sender> => {
  const { db, app, tenantId } = system;
  const signing_key = keyRing(testKeyRing).seal(signingKey, `apps/${app._id}/email.mailgun.signing_key`);
  const email = { ...allAccounts(app._id).email, mailgun: { signing_key } };
  await db.collection<AppRow>("apps").updateOne({ _id: app._id }, { $set: { "channels.email": email } });
  const { messageId, mails } = await seedMails(db, { tenant_id: tenantId, app_id: app._id }, count);
  const bodies = mails.map(({ delivery, subscription }) => {
    const message = { headers: { "message-id": `${delivery._id}@shop.example` } };
    const event = { event: "delivered", timestamp: Date.now() / 1_000, recipient: subscription.token, message };
    return signedMailgun(event, { key: signingKey }).body;
  });
  return {
    system,
    messageId,
    tell: (to, from, upTo) =>
      runLoad({
        url: `${to.url}/ingress/mailgun/${app._id}`,
        connections,
        requests: upTo - from,
        headers: {},
        body: (n) => bodies[from + n] ?? "",
        status: 200,
      }),
  };
};

const stored = async (senders: readonly Sender[]): Promise<number> => {
  const counts = senders.map(({ system, messageId }) =>
    system.db.collection<DeliveryRow>("deliveries").countDocuments({ message_id: messageId, status: "delivered" }),
  );
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
};

/** What callbacks of providers cost, from the request to the store. */
export const callbacks: Measurements = { receipts: measureReceipts };
