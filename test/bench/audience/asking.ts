import { setTimeout as sleep } from "node:timers/promises";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import { cpuUs } from "../../../dev/processes/usage.ts";
import { send } from "../../support/system/sending.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import type { Programs } from "../programs.ts";
import { nobody } from "./people.ts";

const asks = 40;
/** Between two: an app may ask ten times a second. */
const betweenMs = 120;
const leastCpuS = 0.01; // what is less cannot be seen
const planWithinMs = 300_000;

type Running = Pick<Programs, "apiserver" | "dispatchers">;

/** Asks so often how many pass a filter; gives the time in which 95 % of the answers came, ms. */
export const answersWithin = async (
  { app, token }: System,
  { apiserver }: Running,
  filters: object,
): Promise<number> => {
  const times: number[] = [];
  for (let n = 0; n < asks; n++) {
    const beganMs = performance.now();
    const reply = await fetch(`${apiserver.url}/v1/notifications/estimate`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ app_id: app._id, target: { filters } }),
    });
    if (!reply.ok) throw new Error(`${reply.status}: ${await reply.text()}`);
    await reply.json();
    times.push(performance.now() - beganMs);
    await sleep(betweenMs);
  }
  return times.sort((a, b) => a - b)[Math.ceil(asks * 0.95) - 1] ?? Number.NaN;
};

/** Plans a message that everybody is looked at for and nobody gets: subscriptions a second of dispatcher CPU, and who planned. */
export const planning = async (
  system: System,
  { apiserver, dispatchers }: Running,
  people: number,
): Promise<{ perSecond: number; ranges: number[] }> => {
  const holders = new Map<string, string>();
  const before = used(dispatchers);
  const id = await send(system, apiserver, { target: { filters: nobody } });
  const rows = system.db.collection<ChunkRow>("chunks");
  const messages = system.db.collection<{ _id: string; status: string }>("messages");
  await until(async () => {
    const leased = await rows.find({ message_id: id, lease: { $ne: null } }, { projection: { lease: 1 } }).toArray();
    for (const { _id, lease } of leased) holders.set(_id, lease?.holder ?? "");
    return (await messages.findOne({ _id: id }))?.status === "completed";
  }, planWithinMs);
  const cpuS = Math.max(leastCpuS, (used(dispatchers) - before) / 1e6);
  const ranges = [...Map.groupBy(holders.values(), (holder) => holder).values()].map(({ length }) => length);
  return { perSecond: people / cpuS, ranges };
};

const used = (dispatchers: readonly SystemProgram[]): number =>
  dispatchers.reduce((sum, one) => sum + cpuUs(one.pid()), 0);
