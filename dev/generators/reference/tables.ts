import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { settingFeatures, settingNames } from "#core/schema/apps/settings.ts";
import { PlanSpec as PlanSchema, type PlanSpec } from "#core/schema/plans/resource.ts";
import { type PlanFeature, planFeatures } from "#core/schema/vocabulary/plan-features.ts";
import { scopes } from "#core/schema/vocabulary/scopes.ts";
import { operations } from "../../../apiserver/features.ts";
import { type Allowance, narrowRates } from "../../../apiserver/limits/narrow-rates.ts";
import { quotas } from "../../../apiserver/limits/quota-exceeded.ts";
import { memberFeatures } from "../../../apiserver/messages/accept.ts";
import { knownErrors } from "../../../apiserver/reference/errors.ts";
import type { GeneratedFile } from "../generated-file.ts";
import { boundsTables } from "./bounds.ts";
import { errorTables } from "./error-tables.ts";
import { code, codes, figure, table, withTable } from "./markdown.ts";
import { operationTables } from "./operation-tables.ts";
import { otherBounds } from "./other-bounds.ts";
import { accountTables, settingsTable } from "./settings-table.ts";

/** Pages of docs/ that people write, with the tables in them that follow from the code. */
export const referenceTables = (): GeneratedFile[] =>
  pages().map(([name, tables]) => {
    const path = `docs/${name}`;
    return { path, text: Object.entries(tables).reduce((text, [of, rows]) => withTable(text, of, rows), read(path)) };
  });

const read = (path: string): string => readFileSync(join(import.meta.dirname, "../../..", path), "utf8");

/** The tables by their pages and names. */
const pages = (): [string, Record<string, string>][] => {
  const all = [operationTables(), errorTables(), otherTables()];
  const names = new Set(all.flatMap(Object.keys));
  return [...names].map((name) => [name, Object.assign({}, ...all.map((tables) => tables[name]))]);
};

const otherTables = (): Record<string, Record<string, string>> => ({
  "reference/requests.md": { scopes: scopeTable(), "error codes": errorTable() },
  "reference/limits.md": {
    plans: planTable(plansOfSamples()),
    "plan features": featureTable(plansOfSamples()),
    "narrow rates": rateTable(),
    quotas: quotaTable(),
    ...boundsTables(),
    ...otherBounds(),
  },
  "reference/channels.md": accountTables(),
  "reference/settings.md": { "app settings": settingsTable() },
});

const scopeTable = (): string =>
  table(
    ["Scope", "Operations"],
    scopes.map((scope) => [code(scope), scope === "admin" ? "all of them" : codes(operationsOf(scope))]),
  );

const operationsOf = (scope: string): string[] =>
  operations
    .filter(({ scopes: either }) => typeof either !== "string" && either.some((one) => one === scope))
    .map(({ id }) => id);

const errorTable = (): string =>
  table(
    ["Status", "Code", "When", "`details`", "Try again?"],
    knownErrors.map(({ status, code: name, meaning, details, mayPass }) => [
      String(status),
      code(name),
      meaning,
      details,
      mayPass ? "yes" : "no",
    ]),
  );

type Plan = { name: string; spec: PlanSpec };

/** The plans of the samples and the chart, the smallest first. */
const plansOfSamples = (): Plan[] =>
  parseAllDocuments(read("config/samples/00-plans.yaml")).map((one) => {
    const { metadata, spec } = one.toJS() as { metadata: { name: string }; spec: PlanSpec }; // sound: another test applies them
    return { name: metadata.name, spec };
  });

/** The members of a plan that are numbers. */
const numbers = Object.entries(
  PlanSchema.properties as unknown as Record<string, { type?: string; description?: string }>, // sound: schemas of JSON
).filter(([, { type }]) => type === "integer");

const planTable = (plans: readonly Plan[]): string =>
  table(
    ["Member", "What it says", ...plans.map(({ name }) => name)],
    numbers.map(([member, { description = "" }]) => [
      code(member),
      description,
      ...plans.map(({ spec }) => numberOf((spec as Record<string, unknown>)[member])),
    ]),
  );

const numberOf = (value: unknown): string => (typeof value === "number" ? figure(value) : "no limit");

const featureTable = (plans: readonly Plan[]): string =>
  table(
    ["Feature", ...plans.map(({ name }) => name), "Needed by"],
    planFeatures.map((feature) => {
      const has = plans.map(({ spec }) => (spec.features.includes(feature) ? "yes" : "no"));
      return [code(feature), ...has, neededBy(feature)];
    }),
  );

const neededBy = (feature: PlanFeature): string => {
  const needing = operations.filter((operation) => operation.feature === feature).map(({ id }) => code(id));
  const settings = settingNames.filter((name) => settingFeatures[name] === feature);
  const members: readonly string[] = { ...memberFeatures }[feature as keyof typeof memberFeatures] ?? []; // sound: others have none
  const all = [
    ...needing,
    ...settings.map((name) => `the setting ${code(name)}`),
    ...(members.length > 0 ? [`${codes([...members])} of a notification`] : []),
  ];
  return all.length === 0
    ? "nothing: what it is for is not in this release, and members for it are refused"
    : all.join(", ");
};

const rateTable = (): string =>
  table(
    ["Name", "What", "Rate"],
    Object.entries(narrowRates).map(([name, rate]) => [code(name), rate.of, rateOf(rate)]),
  );

const rateOf = ({ calls, seconds, burst }: Allowance): string => {
  const per = seconds === 1 ? "a second" : seconds === 60 ? "a minute" : `in ${seconds} s`;
  return `${figure(calls)} ${per}${burst === undefined ? "" : `, ${burst} at once`}`;
};

const quotaTable = (): string =>
  table(
    ["Metric", "Limit", "Resets"],
    Object.entries(quotas).map(([metric, { limit, resets }]) => [code(metric), limit, resets]),
  );
