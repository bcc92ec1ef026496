import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parser } from "#core/schema/json/parser.ts";
import { Subscription } from "#core/schema/people/subscription.ts";
import { User, userLimits } from "#core/schema/people/user.ts";
import { rootDir } from "../../../dev/files/paths.ts";
import { blocksOf } from "../../support/pages/blocks.ts";

const page = readFileSync(join(rootDir, "docs/api.md"), "utf8");

describe("the page on the REST interface", () => {
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
