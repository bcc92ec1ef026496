import { expect } from "chai";
import { recent } from "../../../../dispatcher/work/recent.ts";

describe("recent", () => {
  const given = () => {
    const made: string[] = [];
    const of = recent(2, (key) => {
      made.push(key);
      return { key };
    });
    return { of, made };
  };

  it("makes one thing for a key", () => {
    const { of, made } = given();
    expect(of("a")).to.equal(of("a"));
    expect(made).to.deep.equal(["a"]);
  });

  it("forgets what was longest unused", () => {
    const { of, made } = given();
    for (const key of ["a", "b", "a", "c", "a", "b"]) of(key);
    expect(made).to.deep.equal(["a", "b", "c", "b"]);
  });
});
