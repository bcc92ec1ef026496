import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Import } from "#core/schema/imports/import.ts";
import { eventually } from "./eventually.ts";
import type { Rest } from "./rest.ts";

const file = join(import.meta.dirname, "players.csv");

/** Imports a small file as OneSignal exports it, with what such files have in them; waits for the end. */
export const importPlayers = async (rest: Rest, appId: string): Promise<Import> => {
  const form = new FormData();
  form.set("type", "thirdparty_players");
  form.set("file", new Blob([readFileSync(file)]), "players.csv");
  const { id } = await rest.upload<Import>(`/v1/apps/${appId}/imports`, form);
  const ended = await eventually(async () => {
    const found = await rest.get<Import>(`/v1/apps/${appId}/imports/${id}`);
    return found.status === "completed" || found.status === "failed" ? found : null;
  }, endedMs);
  if (ended?.status !== "completed") throw new Error(`import ${id}: ${ended?.error ?? "it did not end in time"}`);
  return ended;
};

const endedMs = 30_000;

/** What became of the rows, for people. */
export const importSummary = ({ stats }: Import): string => {
  const {
    processed = 0,
    created_users = 0,
    updated_users = 0,
    created_subscriptions = 0,
    skipped = 0,
    errors = 0,
  } = stats;
  return (
    `${processed} rows: ${created_users} users made, ${updated_users} updated, ${created_subscriptions} subscriptions made, ` +
    `${skipped} skipped, ${errors} faulty`
  );
};
