import { expect } from "chai";
import { table, withTable } from "../../../../dev/generators/reference/markdown.ts";

const page = `# Colors

<!-- colors: written by make generate -->

of old

<!-- end of colors -->

Below.
`;

describe("a table that is written into a page", () => {
  it("takes the place of the former one, and leaves what stands around it", () => {
    const text = table(["Color", "Of"], [["red", "a|b"]]);
    expect(withTable(page, "colors", text)).to.equal(
      page.replace("of old", "| Color | Of |\n|---|---|\n| red | a\\|b |"),
    );
    expect(withTable(withTable(page, "colors", "new"), "colors", "of old")).to.equal(page);
  });

  it("is refused by a page that has no place for it", () => {
    expect(() => withTable(page, "shapes", "")).to.throw("shapes");
    expect(() => withTable(page.replace("end of", "end"), "colors", "")).to.throw("colors");
  });
});
