import { type FilterOp, filterOps } from "../../schema/segments/filter.ts";
import { compileFilter } from "./compile.ts";
import type { Field } from "./fields.ts";
import { type KindName, kinds } from "./kinds.ts";
import type { Subject } from "./subject.ts";

/** A row: what a condition gives for each of the values of its kind. */
export type TruthRow = { op: FilterOp; value: unknown; results: readonly boolean[] };

/** The values that a kind is asked about, and what each op makes of them. */
export type TruthTable = { kind: ValueKind; found: readonly unknown[]; rows: readonly TruthRow[] };

/** What every op says of every sort of value, the absent one first: computed by the function that decides about people. */
export const truthTables = (): TruthTable[] =>
  kindNames.map((kind) => {
    const found = [undefined, null, ...samples[kind].found];
    const ops = filterOps.filter((op) => kinds[kind].ops.some((one) => one === op));
    return { kind, found, rows: ops.map((op) => rowOf(kind, op, found)) };
  });

/** The instant at which the tables are made. */
export const truthNow = new Date("2026-06-15T12:00:00Z");

/** A segment is no value that is found: who is in it is decided by a filter of its own. */
type ValueKind = Exclude<KindName, "segment">;

const rowOf = (kind: ValueKind, op: FilterOp, found: readonly unknown[]): TruthRow => {
  const value = valueFor(kind, op);
  return { op, value, results: found.map((one) => resultOf(kind, { op, value }, one)) };
};

const resultOf = (kind: ValueKind, { op, value }: { op: FilterOp; value: unknown }, found: unknown): boolean => {
  const field: Field = {
    kind,
    level: "user",
    read: () => found,
    stored: null,
    reads: { users: [], subscriptions: [] },
  };
  return compileFilter({ kind: "condition", path: "", name: kind, field, op, value }, truthNow)(nobody);
};

const nobody = {} as Subject; // sound: the field of a table reads nothing of it

/** What a kind is compared with, and what is found. */
type Sample = { value: unknown; above?: unknown; part?: string; found: readonly unknown[] };

const samples: Record<ValueKind, Sample> = {
  text: { value: "berlin", part: "ber", found: ["", "berlin", "Berlin", "10", 10] },
  "text without case": { value: "de", part: "d", found: ["", "de", "DE", "fr", 10] },
  tag: { value: "10", above: "20", part: "1", found: ["10", "10.0", "1e1", "007", "15", "abc"] },
  json: { value: 10, above: 20, part: "1", found: ["", 10, "10", 15, true, [10], ["1"], {}] },
  number: { value: 10, above: 20, found: [0, 10, 15, "10"] },
  date: {
    value: "2026-06-15T10:00:00Z",
    above: "2026-06-15T13:00:00Z",
    found: [
      "2026-06-15T10:00:00Z",
      "2026-06-15T11:30:00Z",
      "2026-06-15T12:30:00Z",
      "2025-01-01T00:00:00Z",
      "yesterday",
    ],
  },
  version: { value: "1.9", above: "2.0", found: ["1.9", "1.9.0", "1.10", "1.9-beta", "2", "latest"] },
  flag: { value: true, found: [true, false, "true"] },
  place: {
    value: { lat: 52.52, long: 13.405, radius_m: 10_000 },
    found: [{ lat: 52.52, long: 13.405 }, { lat: 52.4, long: 13.06 }, { lat: 52.47, long: 13.4 }, "Berlin"],
  },
  choice: { value: "email", found: ["email", "sms"] },
  history: { value: { count: { op: "lte", value: 2 } }, found: [0, 1, 2, 3] },
};

const kindNames = Object.keys(samples) as ValueKind[]; // sound: its keys

const span = { amount: 1, unit: "hours" };

/** What each op is given; ops that are not named get the value of the sample. */
const valueFor = (kind: ValueKind, op: FilterOp): unknown => {
  const { value, above, part } = samples[kind];
  const given: Partial<Record<FilterOp, unknown>> = {
    between: [value, above],
    in: [value],
    not_in: [value],
    contains: part,
    not_contains: part,
    starts_with: part,
    ends_with: part,
    exists: undefined,
    not_exists: undefined,
    within_last: span,
    not_within_last: span,
    before: "now",
    after: "now",
    time_elapsed_gt: 60,
    time_elapsed_lt: 60,
  };
  return op in given ? given[op] : value;
};
