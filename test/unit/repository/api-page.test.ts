import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parser } from "#core/schema/json/parser.ts";
import { Subscription } from "#core/schema/people/subscription.ts";
import { User, userLimits } from "#core/schema/people/user.ts";
import { operations } from "../../../apiserver/features.ts";
import { rootDir } from "../../../dev/files/paths.ts";
import { blocksOf } from "../../support/pages/blocks.ts";

const page = readFileSync(join(rootDir, "docs/api.md"), "utf8");
const [, missing = ""] = page.split("## Operations that do not exist yet\n");

describe("the page on the REST interface", () => {
  it("names no operation as missing that there is", () => {
    const documented = [...missing.matchAll(/`([A-Z]+ \/\S+)`/g)].map(([, operation]) => operation);
    const there = new Set(operations.map(({ method, path }) => `${method} ${path}`));
    expect(documented.filter((operation) => there.has(operation ?? ""))).to.deep.equal([]);
  });

  it("names nothing as missing below a path that there is", () => {
    const documented = [...missing.matchAll(/`(\/\S+)`/g)].map(([, path = ""]) => path);
    expect(documented).to.have.length.above(0);
    expect(operations.filter(({ path }) => documented.some((prefix) => path.startsWith(prefix)))).to.deep.equal([]);
  });

  for (const [info, schema] of [
    ["json user", User],
    ["json subscription", Subscription],
  ] as const) {
    it(`shows a ${info.slice(5)} with every member that one has, and no other`, () => {
      const [block, ...more] = blocksOf("api.md").filter((one) => one.info === info);
      expect(more).to.deep.equal([]);
      const shown = JSON.parse(block?.text ?? "") as object; // an object, or the parser throws
      expect(parser(schema)(shown)).to.equal(shown);
      expect(Object.keys(shown)).to.have.members(Object.keys(schema.properties));
    });
  }

  it("gives the bounds of a user as they are", () => {
    const { aliases, tags, properties, propertyCharacters, subscriptions } = userLimits;
    const text = page.replaceAll(/\s+/g, " ");
    for (const documented of [
      `at most ${aliases}; ${tags} tags`,
      `${properties} properties of any JSON, ${propertyCharacters} characters in total`,
      `and ${subscriptions} subscriptions`,
    ]) {
      expect(text).to.include(documented);
    }
  });
});
