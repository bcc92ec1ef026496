import type { WarehouseDataset, WarehouseFormat } from "../../schema/warehouse/export.ts";

/** The key of a part. `dt` and `hr` are of the window's begin, in UTC. Source: docs/reference/warehouse.md#files. */
export const partKey = ({ prefix, dataset, from, runId, part, format }: PartName): string => {
  const [day = "", time = ""] = from.toISOString().split("T");
  const number = String(part).padStart(5, "0");
  return `${root(prefix)}${dataset}/dt=${day}/hr=${time.slice(0, 2)}/${runId}-${number}.${extensions[format]}`;
};

export type PartName = {
  prefix: string;
  dataset: WarehouseDataset;
  from: Date;
  runId: string;
  /** From 0. */
  part: number;
  format: WarehouseFormat;
};

export const manifestKey = (prefix: string, runId: string): string => `${root(prefix)}_manifests/${runId}.json`;

/** Where a test of a destination writes. */
export const testKey = (prefix: string, id: string): string => `${prefix === "" ? "" : `${prefix}/`}_hs_test/${id}`;

const root = (prefix: string): string => `${prefix === "" ? "" : `${prefix}/`}v1/`;

const extensions: Readonly<Record<WarehouseFormat, string>> = { jsonl: "jsonl.gz", csv: "csv.gz", parquet: "parquet" };
