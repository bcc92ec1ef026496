import { type FieldError, ValidationError as Invalid, invalid, type ValidationError } from "../../errors.ts";
import {
  type FilterMatch,
  type FilterOp,
  filterLimits,
  filterMatches,
  filterOps,
} from "../../schema/segments/filter.ts";
import { fieldFamilies, fieldNamed, fixedFields } from "./fields.ts";
import { kinds } from "./kinds.ts";
import { valueProblem } from "./operands.ts";
import type { Condition, FilterTree } from "./tree.ts";

/**
 * Reads a filter. `at` is where it stands in the request: paths of errors begin with it. The first fault is the one named,
 * with what is allowed there.
 * @throws ValidationError
 */
export const parseFilter = (input: unknown, at = "filter"): FilterTree => {
  if (sizeOf(input) > filterLimits.bytes) throw invalid(at, `must be at most ${filterLimits.bytes} bytes of JSON`);
  return group(input, at, { depth: 1, counter: { conditions: 0 } });
};

type Place = { depth: number; counter: { conditions: number } };

const sizeOf = (input: unknown): number => Buffer.byteLength(JSON.stringify(input) ?? "");

const group = (input: unknown, path: string, place: Place): FilterTree => {
  const object = objectAt(input, path);
  if (place.depth > filterLimits.depth) throw invalid(path, `is nested deeper than ${filterLimits.depth} groups`);
  const [match, ...more] = Object.keys(object);
  if (!isMatch(match) || more.length > 0)
    throw notAllowed(path, "must have exactly one of all, any and none", filterMatches);
  const nodes = object[match];
  if (!Array.isArray(nodes)) throw invalid(`${path}.${match}`, "must be a list");
  const below = { ...place, depth: place.depth + 1 };
  return { kind: "group", path, match, of: nodes.map((one, i) => node(one, `${path}.${match}[${i}]`, below)) };
};

const node = (input: unknown, path: string, place: Place): FilterTree => {
  const object = objectAt(input, path);
  return filterMatches.some((match) => Object.hasOwn(object, match))
    ? group(object, path, place)
    : condition(object, path, place);
};

const condition = (object: Record<string, unknown>, path: string, { counter }: Place): Condition => {
  counter.conditions++;
  if (counter.conditions > filterLimits.conditions)
    throw invalid(path, `is one more than the ${filterLimits.conditions} conditions that a filter may have`);
  const unknown = Object.keys(object).find((name) => !conditionMembers.includes(name));
  if (unknown !== undefined) throw notAllowed(`${path}.${unknown}`, "is not known", conditionMembers);
  const { name, field } = fieldAt(object["field"], `${path}.field`);
  const op = object["op"];
  const allowed = kinds[field.kind].ops;
  if (!isOp(op, allowed)) throw notAllowed(`${path}.op`, opProblem(op, name), allowed);
  const { value } = object;
  const problem = valueProblem(field, op, value);
  if (problem !== null) throw notAllowed(`${path}.value${problem.at}`, problem.message, field.values);
  return { kind: "condition", path, name, field, op, value };
};

const conditionMembers: readonly string[] = ["field", "op", "value"];

const objectAt = (input: unknown, path: string): Record<string, unknown> => {
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return input as Record<string, unknown>; // sound: so it is
  throw invalid(path, "must be an object");
};

const isMatch = (name: string | undefined): name is FilterMatch => filterMatches.some((match) => match === name);

const isOp = (op: unknown, of: readonly FilterOp[]): op is FilterOp => of.some((one) => one === op);

const opProblem = (op: unknown, field: string): string =>
  filterOps.some((one) => one === op) ? `cannot be ${String(op)} for ${field}` : "is not an op";

const fieldAt = (name: unknown, path: string) => {
  const field = typeof name === "string" && name.length <= longestName ? fieldNamed(name) : null;
  if (typeof name === "string" && field !== null) return { name, field };
  throw notAllowed(path, "is not a field that filters read", [...fixedFields.keys(), ...fieldFamilies]);
};

const longestName = 1_400; // "properties." and 10 names of 128 characters

const notAllowed = (field: string, message: string, allowed: readonly string[] | undefined): ValidationError => {
  const error: FieldError = {
    field,
    message: allowed === undefined ? message : `${message}; allowed: ${allowed.join(", ")}`,
  };
  return new Invalid([error], allowed === undefined ? {} : { allowed });
};
