import { countOps, type FilterOp, historyLimits } from "../../schema/segments/filter.ts";
import { channels } from "../../schema/vocabulary/channels.ts";
import { type Field, fieldNamed, type History, type ValueProblem } from "./fields.ts";
import { type KindName, kinds } from "./kinds.ts";
import type { Condition } from "./tree.ts";

/** A part of `where`: what of an event, or of a message to somebody, must be so. */
export type Detail = Pick<Condition, "field" | "op" | "value"> & { property: string };

/** A question about what people did: which of it counts. Conditions that ask the same have the same key. */
export type HistoryAsk = { key: string; of: History; withinDays: number | null; where: readonly Detail[] };

/** The value of `performed`, as it was checked. */
type Performed = {
  count?: { op: (typeof countOps)[number]; value: number };
  within_days?: number;
  where?: { property: string; op: FilterOp; value: unknown }[];
};

/** What has to be known of people's history for a condition; null when it asks for nothing of it. */
export const historyAsk = ({ field: { history }, value }: Pick<Condition, "field" | "value">): HistoryAsk | null => {
  if (history === undefined) return null;
  const { within_days: withinDays = null, where = [] } = (value ?? {}) as Performed; // sound: the parser has seen to it
  return {
    key: JSON.stringify([history.of, history.name, withinDays, where]),
    of: history,
    withinDays,
    where: where.flatMap((one) => {
      const field = detailField(history, one.property);
      return field === null ? [] : [{ ...one, field }];
    }),
  };
};

/** How often is often enough: at least once where nothing is said. */
export const countOf = (value: unknown): NonNullable<Performed["count"]> =>
  (value as Performed | undefined)?.count ?? { op: "gte", value: 1 }; // sound: the parser has seen to it

/** What `where` can name: any property of an event; of a message two. */
const detailField = ({ of }: History, property: string): Field | null =>
  of === "events" ? fieldNamed(`properties.${property}`) : (messageDetails.get(property) ?? null);

const ofMessage = (kind: KindName, more: Partial<Field> = {}): Field => ({
  kind,
  level: "user",
  read: () => undefined,
  stored: null,
  reads: { users: [], subscriptions: [] },
  ...more,
});

const messageDetails: ReadonlyMap<string, Field> = new Map([
  ["message_id", ofMessage("text")],
  ["channel", ofMessage("choice", { values: channels })],
]);

/** The store judges these. */
const messageOps: readonly FilterOp[] = ["eq", "neq", "in", "not_in"];

const must = (at: string, what: string): ValueProblem => ({ at, message: `must be ${what}` });

type Judge = (field: Field, op: FilterOp, value: unknown) => ValueProblem | null;

/** What is wrong with the value of `performed`; null when it may stand. `judge` judges the values of `where`. */
export const historyProblem = (value: unknown, { history }: Field, judge: Judge): ValueProblem | null => {
  if (value === undefined) return null;
  const object = objectOf(value, members);
  if (object === null) return must("", kinds.history.what);
  const { count, within_days: days, where } = object;
  return countProblem(count) ?? daysProblem(days) ?? whereProblem(where, history, judge);
};

const members = ["count", "within_days", "where"];

const objectOf = (value: unknown, known: readonly string[]): Record<string, unknown> | null =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).every((name) => known.includes(name))
    ? (value as Record<string, unknown>) // sound: so it is
    : null;

const countProblem = (count: unknown): ValueProblem | null => {
  if (count === undefined) return null;
  const object = objectOf(count, ["op", "value"]);
  const op = countOps.find((one) => one === object?.["op"]);
  if (op === undefined) return must(".count", `{"op": ${countOps.join(" | ")}, "value": 1–${historyLimits.count}}`);
  const least = op === "lt" ? 2 : op === "gt" ? 0 : 1;
  const value = object?.["value"];
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= historyLimits.count
    ? null
    : must(".count.value", `an integer, ${least} to ${historyLimits.count}: who never did it has not performed it`);
};

const daysProblem = (days: unknown): ValueProblem | null =>
  days === undefined || (Number.isInteger(days) && Number(days) >= 1 && Number(days) <= historyLimits.days)
    ? null
    : must(".within_days", `an integer, 1 to ${historyLimits.days}`);

const whereProblem = (where: unknown, history: History | undefined, judge: Judge): ValueProblem | null => {
  if (where === undefined || history === undefined) return null;
  if (!Array.isArray(where) || where.length > historyLimits.where)
    return must(".where", `a list of at most ${historyLimits.where} conditions`);
  for (const [i, one] of where.entries()) {
    const problem = detailProblem(one, history, judge);
    if (problem !== null) return { ...problem, at: `.where[${i}]${problem.at}` };
  }
  return null;
};

const detailProblem = (detail: unknown, history: History, judge: Judge): ValueProblem | null => {
  const object = objectOf(detail, ["property", "op", "value"]);
  if (object === null) return must("", '{"property", "op", "value"}');
  const { property, op: given, value } = object;
  const field = typeof property === "string" ? detailField(history, property) : null;
  if (field === null)
    return must(
      ".property",
      history.of === "events" ? "the path of a property" : `one of ${[...messageDetails.keys()].join(", ")}`,
    );
  const ops = history.of === "events" ? kinds[field.kind].ops : messageOps;
  const op = ops.find((one) => one === given);
  if (op === undefined) return must(".op", `one of ${ops.join(", ")}`);
  const problem = judge(field, op, value);
  return problem && { ...problem, at: `.value${problem.at}` };
};
