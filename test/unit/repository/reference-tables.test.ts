import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { nextRequestAt } from "#core/domain/webhooks/retry.ts";
import { errorStatuses } from "#core/errors.ts";
import { templateLimits } from "#core/runtime/templates/limits.ts";
import { customEventLimits } from "#core/schema/events/custom.ts";
import { activityLimits } from "#core/schema/live-activities/type.ts";
import { userLimits } from "#core/schema/people/user.ts";
import { suppressionLimits } from "#core/schema/suppressions/suppression.ts";
import { deliveryErrorCodes } from "#core/schema/vocabulary/delivery-error-codes.ts";
import { planFeatures } from "#core/schema/vocabulary/plan-features.ts";
import { scopes } from "#core/schema/vocabulary/scopes.ts";
import { webhookLimits } from "#core/schema/webhooks/webhook.ts";
import { unsupportedMembers, unsupportedTargets } from "../../../apiserver/messages/unsupported.ts";
import { rootDir } from "../../../dev/files/paths.ts";

const read = (path: string): string => readFileSync(join(rootDir, path), "utf8");

/** What stands below a heading, up to the next one. */
const sectionOf = (page: string, heading: string): string => {
  const [, below = ""] = read(`docs/reference/${page}`).split(new RegExp(`^#+ ${heading}\n`, "m"));
  return below.split(/^#/m, 1)[0] ?? "";
};

/** The cells of its tables, row by row, without the marks of code. */
const rowsOf = (section: string): string[][] =>
  section
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.slice(2, -2).replaceAll("`", "").split(" | "));

const named = (section: string, name: string): boolean => section.includes(`\`${name}\``);

const written = (value: number): string => value.toLocaleString("en-US");

type PlanSample = { spec: { features: string[]; [member: string]: unknown } };

/** The plans of the samples, the smallest first. */
const plans = parseAllDocuments(read("config/samples/00-plans.yaml")).map(
  (document) => (document.toJS() as PlanSample).spec, // sound: another test applies them
);

/** Names that a section of a page has to have. */
const vocabularies: { page: string; heading: string; names: readonly string[] }[] = [
  { page: "requests.md", heading: "Scopes", names: scopes },
  { page: "limits.md", heading: "Plan features", names: planFeatures },
  { page: "messages.md", heading: "Error codes", names: deliveryErrorCodes },
];

const { timeoutMs, maxInFlight } = webhookLimits;

/** What the tables of bounds say, by their headings. */
const bounds: Record<string, string[]> = {
  People: [
    `| ${userLimits.aliases} besides the external id`,
    `| tags | ${userLimits.tags};`,
    `| properties | ${userLimits.properties};`,
    `; ${written(userLimits.propertyCharacters)} characters of JSON`,
    `| subscriptions of a user | ${userLimits.subscriptions} |`,
  ],
  Suppressions: [
    `| 1–${written(suppressionLimits.entries)} |`,
    `| ${suppressionLimits.categories} of 1–${suppressionLimits.categoryCharacters} characters;`,
    `| \`note\` | ${suppressionLimits.noteCharacters} characters |`,
  ],
  Events: [
    `| 1–${written(customEventLimits.events)} |`,
    `| ${customEventLimits.nameCharacters} and 128 characters |`,
    `| ${customEventLimits.propertyNames}, ${customEventLimits.depth} levels;`,
    `| ${written(customEventLimits.bytes)} bytes |`,
    `| ${customEventLimits.daysBack} days back to ${customEventLimits.minutesAhead} minutes ahead |`,
  ],
  "Webhook bounds": [
    `| ${webhookLimits.headers}; names of 100, values of ${written(webhookLimits.headerValueCharacters)} characters |`,
    `| ${written(webhookLimits.templateCharacters)} characters; ${templateLimits.renderMs} ms;`,
    `; ${written(templateLimits.outputBytes)} bytes of output; ${written(templateLimits.memory)} characters`,
    `| 1–${written(webhookLimits.ratePerSecond)}; no limit by default |`,
    `| 1–${maxInFlight.most}; ${maxInFlight.standard} by default |`,
    `| ${written(timeoutMs.least)}–${written(timeoutMs.most)}; ${written(timeoutMs.standard)} by default;`,
  ],
  "Live activity types": [
    `| types of an app | ${activityLimits.types} |`,
    `| ${activityLimits.nameCharacters} and ${activityLimits.descriptionCharacters} characters |`,
    `| ${activityLimits.properties} and ${activityLimits.required} |`,
    `| ${activityLimits.values}; texts of ${written(activityLimits.textCharacters)} characters |`,
  ],
};

describe("the tables of docs/reference", () => {
  it("list every error code with its status", () => {
    const rows = rowsOf(sectionOf("requests.md", "Error codes")).filter(([, code]) => code?.startsWith("HS_"));
    const documented = rows.map(([status, code]) => [code, Number(status)]);
    expect(documented).to.have.deep.members(Object.entries(errorStatuses));
  });

  it("name every scope, plan feature and error code of a delivery", () => {
    for (const { page, heading, names } of vocabularies) {
      const section = sectionOf(page, heading);
      expect(names.filter((name) => !named(section, name))).to.deep.equal([], page);
    }
  });

  it("name every member that this release does not support", () => {
    const section = sectionOf("messages.md", "Unsupported members");
    const names = [...unsupportedMembers, ...unsupportedTargets].filter((name) => !/^(?:whatsapp|rcs)_/.test(name));
    expect(names.filter((name) => !named(section, name))).to.deep.equal([]);
  });

  it("give the plans as the samples have them", () => {
    const rows = rowsOf(sectionOf("limits.md", "Plans")).filter(([what]) => what?.endsWith(")"));
    expect(rows).to.have.length.above(5);
    for (const [what = "", ...cells] of rows) {
      const member = /\((\w+)\)$/.exec(what)?.[1] ?? "";
      const values = plans.map((plan) => plan[member]);
      expect(cells).to.deep.equal(
        values.map((value) => (value === undefined ? "no limit" : written(Number(value)))),
        what,
      );
    }
  });

  it("give the features of the plans as the samples have them", () => {
    const rows = rowsOf(sectionOf("limits.md", "Plan features")).slice(1);
    for (const [names = "", ...cells] of rows) {
      for (const name of names.split(", ")) {
        expect(cells, name).to.deep.equal(plans.map(({ features }) => (features.includes(name) ? "yes" : "no")));
      }
    }
  });

  it("give the pauses between requests of a webhook", () => {
    const rows = rowsOf(sectionOf("webhooks.md", "Retries")).filter(([, pause]) => /^\d+ (min|h)$/.test(pause ?? ""));
    const documented = rows.map(([, pause = ""]) => Number.parseInt(pause, 10) * (pause.endsWith("h") ? 60 : 1));
    const minutes = rows.map((_, i) => (nextRequestAt(i + 1, new Date(0), null, () => 0)?.getTime() ?? 0) / 60_000);
    expect(documented).to.deep.equal(minutes).and.to.have.length(6);
  });

  it("give bounds as the schemas have them", () => {
    for (const [heading, texts] of Object.entries(bounds)) {
      const section = sectionOf("limits.md", heading);
      expect(texts.filter((text) => !section.includes(text))).to.deep.equal([], heading);
    }
  });
});
