import { expect } from "chai";
import fc from "fast-check";
import { cursors } from "../../../../apiserver/http/pages.ts";

describe("cursors", () => {
  const ours = cursors(() => Buffer.alloc(32, 1));
  const scope = { list: "messages/app_1", sort: "-created_at", filters: { label: "a", status: undefined } };

  it("give back the key they were made of", () => {
    fc.assert(fc.property(fc.string(), (key) => ours.read(scope, ours.write(scope, key)) === key));
  });

  it("do not depend on the order of filters, nor on filters that are not given", () => {
    const cursor = ours.write({ ...scope, filters: { a: "1", b: "2" } }, "k");
    expect(ours.read({ ...scope, filters: { b: "2", c: undefined, a: "1" } }, cursor)).to.equal("k");
  });

  it("are refused after any change of a character", () => {
    const cursor = ours.write(scope, "msg_1");
    const places = fc.nat({ max: cursor.length - 2 }); // the last one carries unused bits of base64
    const letters = fc.constantFrom("A", "B", "z", "0", "9", "-", "_", ".");
    fc.assert(
      fc.property(places, letters, (at, letter) => {
        const altered = cursor.slice(0, at) + letter + cursor.slice(at + 1);
        if (altered === cursor) return;
        expect(() => ours.read(scope, altered))
          .to.throw()
          .with.nested.property("details.field", "cursor");
      }),
    );
  });

  it("are refused under another secret", () => {
    const cursor = cursors(() => Buffer.alloc(32, 2)).write(scope, "k");
    expect(() => ours.read(scope, cursor))
      .to.throw()
      .with.property("code", "HS_VALIDATION_ERROR");
  });
});
