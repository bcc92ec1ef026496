import { globSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { rootDir } from "../../../../dev/files/paths.ts";

const ajv = new Ajv2020({ strict: false }); // strictness is the parser's; this one has the meta-schema alone

const isOfTypebox = (value: unknown): boolean => typeof value === "object" && value !== null && "~kind" in value;

describe("the schemas", () => {
  it("are valid JSON Schema 2020-12, which no program asks at its start", async () => {
    const files = globSync(["core/schema/**/*.ts", "config/*.ts"], { cwd: rootDir, exclude: ["**/*.d.ts"] });
    const wrong: string[] = [];
    let checked = 0;
    for (const file of files) {
      const exported = Object.entries((await import(join(rootDir, file))) as Record<string, unknown>);
      for (const [name, schema] of exported.filter(([, value]) => isOfTypebox(value))) {
        checked += 1;
        if (ajv.validateSchema(schema as object) !== true) wrong.push(`${file} ${name}: ${ajv.errorsText()}`);
      }
    }
    expect(checked).to.be.above(100);
    expect(wrong).to.deep.equal([]);
  });
});
