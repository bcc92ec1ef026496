import type { ErrorObject } from "ajv/dist/2020.js";
import type { FieldError } from "../../errors.ts";
import { messageOf } from "./parser-messages.ts";

/** Failing members that one 400 names; more help nobody. */
export const maxErrors = 20;
const maxFieldCharacters = 200; // a field repeats names that the caller chose

/** One failure: where it is in the input, where its rule is in the schema, and what to say about it. */
type Problem = { at: string; member: string | null; rule: string; keyword: string; message: string };

/** Turns ajv's errors into ours: one a member, at most one a union, the first 20. Never empty. */
export const fieldErrors = (
  errors: readonly ErrorObject[],
  input: unknown,
  prefix: string,
): readonly [FieldError, ...FieldError[]] => {
  const byField = new Map<string, FieldError>();
  for (const problem of foldUnions(errors)) {
    const field = fieldOf(problem, input, prefix);
    if (!byField.has(field)) byField.set(field, { field, message: problem.message });
    if (byField.size === maxErrors) break;
  }
  const [first, ...rest] = byField.values();
  return [first ?? { field: prefix || "body", message: "is not valid" }, ...rest];
};

/** ajv lists the errors of a union's branches, then the union's own: replaces them by what is worth saying. */
const foldUnions = (errors: readonly ErrorObject[]): Problem[] => {
  const problems: Problem[] = [];
  for (const error of errors) {
    if (error.keyword === "propertyNames" || error.keyword === "if") continue; // the rule that was broken has been listed
    const problem = problemOf(error);
    if (error.keyword !== "anyOf" && error.keyword !== "oneOf") {
      problems.push(problem);
      continue;
    }
    const start = branchStart(problems, problem);
    problems.push(...explainUnion(problem, problems.splice(start)));
  }
  return problems;
};

const problemOf = (error: ErrorObject): Problem => ({
  at: error.instancePath,
  member: memberOf(error),
  rule: error.schemaPath,
  keyword: error.keyword,
  message: error.propertyName === undefined ? messageOf(error) : `has a name that ${messageOf(error)}`,
});

/** The member below `instancePath` that an error is about. */
const memberOf = ({ params, propertyName }: ErrorObject): string | null => {
  const member: unknown =
    params["additionalProperty"] ?? params["unevaluatedProperty"] ?? params["missingProperty"] ?? propertyName;
  return typeof member === "string" ? member : null;
};

const branchStart = (problems: readonly Problem[], union: Problem): number => {
  let start = problems.length;
  while (start > 0 && isBelow(problems[start - 1], union)) start--;
  return start;
};

const isBelow = (problem: Problem | undefined, union: Problem): boolean =>
  problem !== undefined &&
  problem.rule.startsWith(`${union.rule}/`) &&
  (problem.at === union.at || problem.at.startsWith(`${union.at}/`));

/** The errors of the branch that was meant, when that can be seen; otherwise one sentence about all. */
const explainUnion = (union: Problem, below: readonly Problem[]): Problem[] => {
  const branches = [...Map.groupBy(below, (problem) => branchOf(problem, union)).values()];
  const meant = branches.filter((branch) => !branch.some((problem) => isOtherKind(problem, union)));
  if (meant.length === 1 && meant[0] !== undefined) return meant[0];
  const [first, ...rest] = branches;
  const shared = first?.find((a) => rest.every((branch) => branch.some((b) => isSame(a, b))));
  if (shared !== undefined) return [shared];
  return [summary(union, branches)];
};

const branchOf = (problem: Problem, union: Problem): string =>
  problem.rule.slice(union.rule.length + 1).split("/", 1)[0] ?? "";

/** Whether an error says that its branch was not the one meant: wrong JSON type, or another value in a `type` member. */
const isOtherKind = (problem: Problem, union: Problem): boolean => {
  if (problem.at === union.at) return ["type", "const", "enum"].includes(problem.keyword);
  const isChild = !problem.at.slice(union.at.length + 1).includes("/");
  return isChild && problem.keyword === "const";
};

const isSame = (a: Problem, b: Problem): boolean => a.at === b.at && a.member === b.member && a.message === b.message;

const summary = (union: Problem, branches: readonly (readonly Problem[])[]): Problem => {
  const kinds = branches.map((branch) => branch.find((problem) => isOtherKind(problem, union)));
  const places = new Set(kinds.map((kind) => kind?.at));
  const [at] = places;
  if (places.size !== 1 || at === undefined) return { ...union, message: "has none of the allowed forms" };
  const wanted = kinds.map((kind) => kind?.message.replace(/^must be (one of )?/, "") ?? "");
  return { ...union, at, message: `must be ${wanted.length > 2 ? "one of " : ""}${list(wanted)}` };
};

const list = (words: readonly string[]): string => (words.length === 2 ? words.join(" or ") : words.join(", "));

/** `/target/channels/0` becomes `target.channels[0]`; the input tells which names are indexes. */
const fieldOf = ({ at, member }: Problem, input: unknown, prefix: string): string => {
  let field = prefix;
  let node = input;
  const names = at.split("/").slice(1).map(unescapePointer);
  for (const name of member === null ? names : [...names, member]) {
    if (Array.isArray(node)) field += `[${name}]`;
    else field += field === "" ? name : `.${name}`;
    node = typeof node === "object" && node !== null ? Reflect.get(node, name) : undefined;
  }
  return field === "" ? "body" : clip(field);
};

const unescapePointer = (name: string): string => name.replaceAll("~1", "/").replaceAll("~0", "~");

/** A member's name as errors tell it: at most 200 characters. */
export const clip = (field: string): string =>
  field.length <= maxFieldCharacters ? field : `${field.slice(0, maxFieldCharacters)}…`;
