import { expect } from "chai";
import { Type } from "typebox";
import { named, nameOf } from "#core/schema/json/named.ts";

describe("the names of schemas", () => {
  const Paint = Type.Object({ color: Type.String() });
  const before = JSON.stringify(Paint);
  named({ PaintOfATest: Paint });

  it("belong to the very schema, which stays as it is", () => {
    expect(nameOf(Paint)).to.equal("PaintOfATest");
    expect(nameOf(Type.Object({ color: Type.String() }))).to.equal(undefined);
    expect(JSON.stringify(Paint)).to.equal(before);
  });

  it("are each one schema's", () => {
    expect(() => named({ PaintOfATest: Type.Object({}) })).to.throw("two schemas are called PaintOfATest");
  });
});
