import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { filterProblems, passes } from "#core/domain/webhooks/filter.ts";
import { type BodyContentType, templateEngine, templateProblem } from "#core/runtime/templates/engine.ts";
import { templateLimits } from "#core/runtime/templates/limits.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { parser } from "#core/schema/json/parser.ts";
import { type FilterCondition, filterOps, WebhookFilters } from "#core/schema/webhooks/filters.ts";
import { rootDir } from "../../../dev/files/paths.ts";

const page = readFileSync(join(rootDir, "docs/webhook-filters.md"), "utf8");

/** The fenced examples: what stands behind the fence, and the text. */
const blocks = [...page.matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)].map(([, info = "", text = ""]) => ({ info, text }));

const textsOf = (info: string): string[] => blocks.filter((block) => block.info === info).map(({ text }) => text);

const event = JSON.parse(textsOf("json event")[0] ?? "") as EventEnvelope;
const batch = JSON.parse(textsOf("json batch")[0] ?? "") as object;
const parseFilters = parser(WebhookFilters);

describe("the page about filters and body templates", () => {
  for (const [info, isSent] of [
    ["json filters, sent", true],
    ["json filters, not sent", false],
  ] as const)
    it(`shows filters with which its event is ${isSent ? "" : "not "}sent`, () => {
      expect(textsOf(info)).to.have.lengthOf.above(0);
      for (const text of textsOf(info)) {
        const filters = parseFilters(JSON.parse(text));
        expect(filterProblems(filters, "filters")).to.deep.equal([]);
        expect(passes(filters, event)).to.equal(isSent);
      }
    });

  it("lists every op, each with a condition that is true", () => {
    const rows = [...page.matchAll(/^\| `(\w+)` \|.*\| `(\{ "field".*\})` \|$/gm)];
    expect(rows.map(([, op]) => op)).to.have.members([...filterOps]);
    for (const [, op, text = ""] of rows) {
      const condition = JSON.parse(text) as FilterCondition;
      expect(condition.op).to.equal(op);
      const filters: WebhookFilters = { match: "all", conditions: [condition] };
      expect(filterProblems(filters, "filters"), op).to.deep.equal([]);
      expect(passes(filters, event), op).to.equal(true);
    }
  });

  it("shows what each template renders to", () => {
    const { render } = templateEngine();
    const examples = blocks.flatMap(({ info, text }, i) =>
      info.startsWith("liquid ") ? [{ info, text, next: blocks[i + 1] }] : [],
    );
    expect(examples.length).to.be.at.least(4);
    for (const { info, text, next } of examples) {
      const [, contentType = "", ofBatch] = info.split(/,? /);
      expect(templateProblem(text.trimEnd())).to.equal(null);
      const result = render(
        text.trimEnd(),
        contentType as BodyContentType,
        ofBatch ? batch : event,
        templateLimits.renderMs,
      );
      const body = typeof result === "object" && "body" in result ? result.body : JSON.stringify(result);
      if (next?.info === "json output") expect(JSON.parse(body)).to.deep.equal(JSON.parse(next.text));
      else expect([next?.info, `${body}\n`]).to.deep.equal(["text output", next?.text]);
    }
  });

  it("shows no example that is not run", () => {
    const kinds = blocks.map(({ info }) => info.replace(/^(liquid|json|text) /, ""));
    const known = [
      "event",
      "batch",
      "filters, sent",
      "filters, not sent",
      "output",
      "application/json",
      "application/json, batch",
      "text/plain",
    ];
    expect(kinds.filter((kind) => !known.includes(kind))).to.deep.equal([]);
  });
});
