import type { KeyUseRow, Kids } from "#core/storage/keys/uses.ts";

/** The column of each collection: documents of the last two are of warehouse exports and of their hashes. */
const columns = [
  ["APPS", "apps"],
  ["WEBHOOKS", "webhooks"],
  ["SUPPRESSIONS", "suppression_keys"],
  ["EXPORTS", "warehouse_exports"],
  ["HASHES", "warehouse_keys"],
] as const;
const head = ["KEY", "STATE", "SECRETS", ...columns.map(([title]) => title), "COUNTED"];

/**
 * What each key still seals, as a table: secrets of all kinds, and documents of each. STATE: `sealing` (the first of the
 * ring), `opening` (another of the ring), `lost` (said to be), `missing`.
 */
export const keysTable = (uses: readonly KeyUseRow[], { ring, lost }: Kids): string => {
  const kids = new Set([...ring, ...uses.map(({ _id }) => _id)]);
  const byKid = new Map(uses.map((use) => [use._id, use]));
  return table([head, ...[...kids].map((kid) => [kid, stateOf(kid, { ring, lost }), ...cellsOf(byKid.get(kid))])]);
};

const stateOf = (kid: string, { ring, lost }: Kids): string => {
  if (kid === ring[0]) return "sealing";
  if (ring.includes(kid)) return "opening";
  return lost.includes(kid) ? "lost" : "missing";
};

/** Before the first count nobody knows. */
const cellsOf = (use: KeyUseRow | undefined): string[] => {
  if (use === undefined || use.counted_at === null) return ["?", ...columns.map(() => "?"), "never"];
  const secrets = Object.values(use.sealed).reduce((sum, one) => sum + one.secrets, 0);
  const documents = columns.map(([, name]) => String(use.sealed[name]?.documents ?? 0));
  return [String(secrets), ...documents, use.counted_at.toISOString()];
};

/** Rows as lines for a terminal, their cells below each other; the first row is the head. */
export const table = (rows: readonly string[][]): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return rows.map((row) => line(row).trimEnd()).join("\n");
};
