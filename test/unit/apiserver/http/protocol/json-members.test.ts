import { expect } from "chai";
import fc from "fast-check";
import { membersIn, repeatedMember } from "../../../../../apiserver/http/protocol/json-members.ts";
import { cpuMs } from "../../../../support/until.ts";

describe("the members of a text of JSON", () => {
  const membersOf = (value: unknown): number =>
    typeof value !== "object" || value === null
      ? 0
      : Object.values(value).reduce<number>(
          (sum: number, one) => sum + membersOf(one) + (Array.isArray(value) ? 0 : 1),
          0,
        );

  it("are as many as those of what it says, when none is named twice", () => {
    const indents = fc.constantFrom("", " ", "\t", "\n\r");
    fc.assert(
      fc.property(fc.jsonValue(), indents, (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(membersIn(text)).to.equal(membersOf(JSON.parse(text)));
        expect(repeatedMember(text)).to.equal(null);
      }),
    );
  });

  it("are more when one is named again, wherever that is", () => {
    const names = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(names, fc.nat(4), fc.jsonValue(), (all, at, value) => {
        const name = all[at % all.length] ?? "";
        const members = [...all, name].map((one) => `${JSON.stringify(one)} : ${JSON.stringify(value)}`);
        const text = `[{}, {"a": {${members.join(",")}}}]`;
        expect(membersIn(text)).to.be.above(membersOf(JSON.parse(text)));
        expect(repeatedMember(text)).to.deep.equal(["[1]", ".a", `.${name}`]);
      }),
    );
  });

  for (const [text, path] of [
    ['{"a":1,"\\u0061":2}', [".a"]],
    ['{"a\\\\":1,"b":"\\",","a\\\\":2}', [".a\\"]],
    ['{"a":{"a":{"a":1}},"b":["a","a"]}', null],
    ['[{"a":1},{"a":1}]', null],
    ['{"__proto__":1,"__proto__":2}', [".__proto__"]],
    ['"a:a"', null],
  ] as const) {
    it(`${path === null ? "are named once" : "are named twice"}: ${text}`, () => {
      expect(repeatedMember(text)).to.deep.equal(path);
      expect(membersIn(text) === membersOf(JSON.parse(text))).to.equal(path === null);
    });
  }

  it("are counted in one pass, however many quotes are escaped", async () => {
    const text = `{"a":"${'\\"\\\\'.repeat(400_000)}","b":1}`;
    expect(await cpuMs(() => expect(membersIn(text)).to.equal(2))).to.be.below(2_000);
  });
});
