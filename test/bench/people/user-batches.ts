import type { System } from "../../support/system/system.ts";
import { type CpuOfEach, cpuOfEach, splitOf } from "../cpu.ts";
import { atLeast } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import { type Load, runLoad } from "../messages/load.ts";
import { type Programs, startPrograms } from "../programs.ts";

const whole = { batches: 60, warmUp: 10, users: 1_000 };
const short: typeof whole = { batches: 2, warmUp: 1, users: 20 };
const connections = 4;

/** Users who are made, changed, and made with a subscription each, in batches; a dispatcher runs beside. */
const measureUserBatches: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores }) => {
    const bench = { system, ...(await startPrograms({ system, stores }, 1)) };
    const size = isShort ? short : whole;
    await upsert(bench, { ...size, batches: size.warmUp }, (n) => userOf(-1 - n));
    for (const [name, user, reach] of [
      ["users made in batches", userOf, 5_000],
      ["users changed in batches", (n: number) => ({ ...userOf(n), tags: { plan: "pro", orders: "1" } }), 5_000],
      ["users made with a subscription each", (n: number) => withEmail(n + size.batches * size.users), 2_000],
    ] as const) {
      const { perSecond, cpuUs } = await upsert(bench, size, user);
      const how = `${size.batches} batches of ${size.users}, ${connections} connections; CPU of a user, µs: ${splitOf(cpuUs)}`;
      tell({ name, reach: atLeast(reach), value: perSecond, unit: "/s", how });
    }
  });

const userOf = (n: number) => ({
  external_id: `customer-${n}`,
  aliases: { crm: `A-${n}` },
  tags: { plan: n % 2 === 0 ? "free" : "pro", orders: String(Math.abs(n) % 40) },
  properties: { cart: { items: Math.abs(n) % 5 } },
  language: "de",
  country: "DE",
});

const withEmail = (n: number) => ({
  ...userOf(n),
  subscriptions: [{ channel: "email", token: `customer-${n}@example.com` }],
});

type Bench = Programs & { system: System };

const upsert = async (
  { system, apiserver, cpuUs }: Bench,
  { batches, users }: typeof whole,
  user: (n: number) => object,
): Promise<{ perSecond: number; cpuUs: CpuOfEach }> => {
  const load: Load = {
    url: `${apiserver.url}/v1/apps/${system.app._id}/users/batch`,
    connections,
    requests: batches,
    headers: { authorization: `Bearer ${system.token}` },
    body: (n) => JSON.stringify({ users: Array.from({ length: users }, (_, i) => user(n * users + i)) }),
    status: 200,
  };
  const before = cpuUs();
  const { perSecond, failures } = await runLoad(load);
  if (Object.keys(failures).length > 0) throw new Error(`answers other than 200: ${JSON.stringify(failures)}`);
  return { perSecond: perSecond * users, cpuUs: cpuOfEach(before, cpuUs(), batches * users) };
};

export const people: Measurements = { "user-batches": measureUserBatches };
