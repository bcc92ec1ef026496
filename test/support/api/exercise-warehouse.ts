import { warehouseDatasets } from "#core/schema/warehouse/export.ts";
import { s3Destination } from "../rows/warehouse.ts";
import { testServers } from "../servers/servers.ts";
import { until } from "../until.ts";
import type { Ask } from "./exercise.ts";

/** The operations on warehouse exports, with a run to its end. */
export const useWarehouse = async (ask: Ask, list: string): Promise<void> => {
  const destination = s3Destination((await testServers()).s3Url);
  const start_from = new Date(Date.now() - 3_600_000).toISOString();
  const { id } = await ask("POST", list, { name: "Lake", destination, datasets: warehouseDatasets, start_from });
  await ask("POST", list, { name: "Other", destination, datasets: ["deliveries"], test: false });
  const { next_cursor: next } = await ask("GET", `${list}?limit=1`);
  await ask("GET", `${list}?limit=1&cursor=${String(next)}`);
  const one = `${list}/${String(id)}`;
  const statuses = async () =>
    ((await ask("GET", `${one}/runs`))["data"] as { status: string }[]).map(({ status }) => status);
  await ask("GET", one);
  await ask("PATCH", one, { name: "Sea", schedule: { frequency: "12h" } });
  await ask("POST", `${one}/test`, {});
  await ask("POST", `${one}/pause`, { reason: "a try" });
  await until(async () => (await statuses()).every((status) => status === "completed"), 60_000); // its schedule's, too
  await ask("POST", `${one}/backfill`, {});
  await until(async () => (await statuses()).every((status) => status === "completed"), 60_000);
  const range = { from: start_from, to: new Date(Date.now() - 1_800_000).toISOString() };
  await ask("POST", `${one}/backfill`, range);
  await ask("GET", `${one}/runs?trigger=manual`);
  const { next_cursor: more } = await ask("GET", `${one}/runs?limit=1`);
  await ask("GET", `${one}/runs?limit=1&cursor=${String(more)}`);
  await ask("POST", `${one}/resume`, {});
  await ask("DELETE", one);
};
