import { expect } from "chai";
import { madeAtStart, type Part } from "#core/runtime/process/lifecycle.ts";

describe("a part that is made when it starts", () => {
  const signal = new AbortController().signal;
  let seen: string[];
  beforeEach(() => {
    seen = [];
  });

  const made: Part = {
    name: "made",
    start: async () => void seen.push("start"),
    stop: async () => void seen.push("stop"),
  };
  const making = async (): Promise<Part> => {
    seen.push("made");
    return made;
  };

  it("is not made before, and starts and stops as what was made", async () => {
    const part = madeAtStart("late", making);
    expect([part.name, seen]).to.deep.equal(["late", []]);
    await part.start(signal);
    await part.stop(signal);
    expect(seen).to.deep.equal(["made", "start", "stop"]);
  });

  it("has nothing to stop when it could not be made", async () => {
    const part = madeAtStart("late", () => Promise.reject(new Error("no library")));
    expect(String(await part.start(signal).catch((error: unknown) => error))).to.contain("no library");
    await part.stop(signal);
    expect(seen).to.deep.equal([]);
  });
});
