import { randomUUID } from "node:crypto";
import { newId } from "#core/domain/ids.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { aSentMessage } from "../../support/callbacks/deliveries.ts";
import type { System } from "../../support/system/system.ts";
import { atLeast, atMost } from "../figures/figure.ts";
import type { Measurement } from "../measure-all.ts";
import { type Load, type LoadResult, runLoad } from "../messages/load.ts";
import { costsOf } from "./costs.ts";
import { type BenchDevice, seedDevices } from "./people.ts";

const whole = { requests: 12_000, warmUp: 2_000, devices: 3_000, batches: 4_000, batchWarmUp: 500 };
const short: typeof whole = { requests: 40, warmUp: 10, devices: 20, batches: 20, batchWarmUp: 10 };
const connections = 64;
const itemsOfBatch = 20;
const addresses = 12_000;

/** Behind one proxy that is believed: each request names one of many addresses, as those of phones are. */
const behindProxy = { HERALD_TRUSTED_PROXIES: "1", HERALD_EDGE_RATE_PER_SECOND: "200" };

const addressOf = (n: number): string => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;

export const measureRegistrations: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores, startOwn }) => {
    const { requests, warmUp, devices: count } = isShort ? short : whole;
    const apiserver = await startOwn("apiserver", behindProxy);
    const withCosts = costsOf(stores, { apiserver: [apiserver] });
    const devices = await seedDevices(system, count);
    let sent = 0;
    const load = { connections, status: 201, headers: () => ({ "x-forwarded-for": addressOf(sent++ % addresses) }) };
    const register = (n: number) =>
      runLoad({
        ...load,
        requests: n,
        url: `${apiserver.url}/sdk/v1/subscriptions`,
        headers: () => ({ ...load.headers(), "x-hs-app-id": system.app._id }),
        body: registration,
      });
    const update = (from: number, n: number) =>
      runLoad({
        ...load,
        status: 200,
        requests: n,
        url: (i) => `${apiserver.url}/sdk/v1/subscriptions/${deviceOf(devices, from + i).subscription._id}`,
        headers: (i) => ({
          ...load.headers(),
          ...deviceOf(devices, from + i).headers,
          "x-http-method-override": "PATCH",
        }),
        body: (i) => JSON.stringify({ device: { app_version: `1.${from + i}` } }),
      });
    await register(warmUp);
    const registered = await withCosts(requests, async () => answered(await register(requests)));
    await update(0, warmUp);
    const updated = await withCosts(requests, async () => answered(await update(warmUp, requests)));
    await apiserver.kill();
    const how = `${requests} from ${addresses} addresses behind one proxy, ${connections} connections`;
    for (const [name, { result, costs }] of [
      ["registrations of devices", registered],
      ["updates of devices", updated],
    ] as const) {
      const { perSecond, p99Ms, p50Ms } = result;
      tell(
        { name, reach: atLeast(1_200), value: perSecond, unit: "/s", how: `${how}; ${costs}` },
        { name: `${name}, p99`, reach: atMost(100), value: p99Ms, unit: "ms", how: `p50 ${p50Ms.toFixed(1)} ms` },
      );
    }
  });

export const measureReports: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores, startOwn }) => {
    const { devices: count, batches, batchWarmUp } = isShort ? short : whole;
    const [apiserver, dispatcher] = [await startOwn("apiserver"), await startOwn("dispatcher")];
    const withCosts = costsOf(stores, { apiserver: [apiserver], dispatcher: [dispatcher] });
    const devices = await seedDevices(system, count);
    const messages = await seedMessages(system);
    const send = (path: string, from: number, n: number, body: () => object) =>
      runLoad({
        url: `${apiserver.url}/sdk/v1/${path}`,
        connections,
        requests: n,
        status: 202,
        headers: (i) => deviceOf(devices, from + i).headers,
        body: () => JSON.stringify(body()),
      });
    const kinds = [
      [
        "receipts",
        () => ({ receipts: messages.map((id) => ({ type: "received", message_id: id, occurred_at: isoNow() })) }),
      ],
      ["events", () => ({ events: Array.from({ length: itemsOfBatch }, anEvent) })],
    ] as const;
    let used = 0;
    for (const [name, body] of kinds) {
      await send(name, used, batchWarmUp, body);
      const { result, costs } = await withCosts(batches, async () =>
        answered(await send(name, used + batchWarmUp, batches, body)),
      );
      const { perSecond, p50Ms, p99Ms } = result;
      used += batchWarmUp + batches;
      const how = `${batches} batches of ${itemsOfBatch}, ${connections} connections, until they are kept, while a dispatcher reads them; p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms; ${costs}`;
      tell({ name: `${name} of devices`, reach: atLeast(5_000), value: perSecond * itemsOfBatch, unit: "/s", how });
    }
    await apiserver.kill();
    await dispatcher.kill();
  });

const deviceOf = (devices: readonly BenchDevice[], n: number): BenchDevice => {
  const found = devices[n % devices.length];
  if (found === undefined) throw new Error("no device");
  return found;
};

const registration: Load["body"] = () =>
  JSON.stringify({
    install_id: randomUUID(),
    channel: "ios_push",
    token: randomUUID().replaceAll("-", "").repeat(2),
    device: { model: "iPhone17,1", os_version: "20.1", app_version: "1.0" },
    language: "en",
  });

const isoNow = (): string => new Date().toISOString();

const anEvent = () => ({
  id: randomUUID(),
  name: "product.viewed",
  properties: { sku: "4711", price: 19.9 },
  occurred_at: isoNow(),
});

/** Messages that a device may speak of. */
const seedMessages = async ({ db, app, tenantId }: System): Promise<string[]> => {
  const of = { tenant_id: tenantId, app_id: app._id };
  const ids = Array.from({ length: itemsOfBatch }, () => newId("message", new Date()));
  await db.collection<MessageRow>(messageCollection.name).insertMany(ids.map((id) => aSentMessage(of, id, 1)));
  return ids;
};

const answered = (result: LoadResult): LoadResult => {
  if (Object.keys(result.failures).length > 0) throw new Error(`refused: ${JSON.stringify(result.failures)}`);
  return result;
};
