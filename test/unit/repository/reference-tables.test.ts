import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { nextRequestAt } from "#core/domain/webhooks/retry.ts";
import { templateLimits } from "#core/runtime/templates/limits.ts";
import { customEventLimits } from "#core/schema/events/custom.ts";
import { exportLimits } from "#core/schema/exports/export.ts";
import { importLimits } from "#core/schema/imports/import.ts";
import { mostChannels } from "#core/schema/live-activities/channel.ts";
import { activityLimits } from "#core/schema/live-activities/type.ts";
import { userLimits } from "#core/schema/people/user.ts";
import { incidentLimits } from "#core/schema/status/vocabulary.ts";
import { webhookLimits } from "#core/schema/webhooks/webhook.ts";
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

const written = (value: number): string => value.toLocaleString("en-US");

/** Rows of tables that begin with an operation, on a page or a part of one that is not generated. */
const operationsByHand = (page: string): string[] =>
  page.includes("<!-- Generated from ")
    ? []
    : page
        .replaceAll(/<!-- (.+): written by make generate -->.*?<!-- end of \1 -->/gs, "")
        .split("\n")
        .filter((line) => /^\| *\[?`(?:GET|POST|PUT|PATCH|DELETE) [/…]/.test(line));

const { timeoutMs, maxInFlight } = webhookLimits;

/** What the tables of bounds say, by their headings. */
const bounds: Record<string, string[]> = {
  People: [
    `| ${written(userLimits.propertyCharacters)} characters of JSON in total |`,
    `| subscriptions of a user | ${userLimits.subscriptions} |`,
  ],
  Imports: [
    `| ${written(importLimits.fileBytes)} bytes as sent; 1 GiB inflated`,
    `; ${written(importLimits.rows)} rows |`,
    `| 1 runs, ${importLimits.pending} wait |`,
    `| an upload | ${importLimits.uploadSeconds / 60} minutes |`,
  ],
  Exports: [
    `| rows of a file | ${written(exportLimits.rows)} |`,
    `| ${exportLimits.running} are made, ${exportLimits.pending} wait |`,
    `| ${exportLimits.attempts} |`,
  ],
  Events: [
    `| ${customEventLimits.depth} levels |`,
    `| ${written(customEventLimits.bytes)} bytes |`,
    `| ${customEventLimits.daysBack} days back to ${customEventLimits.minutesAhead} minutes ahead |`,
  ],
  "Webhook bounds": [
    `| ${webhookLimits.headers}; names of 100, values of ${written(webhookLimits.headerValueCharacters)} characters |`,
    `| ${templateLimits.renderMs} ms; ${written(templateLimits.outputBytes)} bytes of output;`,
    `; ${written(templateLimits.memory)} characters`,
    `| ${maxInFlight.standard} by default |`,
    `| ${written(timeoutMs.standard)} by default;`,
  ],
  "Live activity types": [`at most ${activityLimits.types} types`],
  "Live activities": [
    `| ${written(activityLimits.textCharacters)} characters |`,
    `| broadcast channels of an app | ${written(mostChannels)} |`,
  ],
  Incidents: [`at most ${incidentLimits.updates} updates`],
};

describe("the tables of docs/reference", () => {
  it("leave lists of operations to what is generated", () => {
    const pages = globSync("docs/{*,reference/*,contributing/*}.md", { cwd: rootDir });
    expect(pages).to.have.length.above(40);
    const byHand = pages.flatMap((path) => operationsByHand(read(path)).map((row) => `${path}: ${row}`));
    expect(byHand).to.deep.equal([]);
  });

  it("are looked through for operations, but where they are generated", () => {
    const listed = "| `GET …/colors` | the colors |\n| [`POST /v1/colors`](#new) | a new one |";
    expect(operationsByHand(`| Operation | |\n|---|---|\n${listed}\n`)).to.deep.equal(listed.split("\n"));
    expect(operationsByHand(`<!-- colors: written by make generate -->\n\n${listed}\n\n<!-- end of colors -->\n`)).to.be
      .empty;
    expect(operationsByHand(`<!-- Generated from the routes. -->\n\n${listed}\n`)).to.be.empty;
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
