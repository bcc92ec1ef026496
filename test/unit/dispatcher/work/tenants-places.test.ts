import { expect } from "chai";
import { tenantsPlaces } from "../../../../dispatcher/work/tenants-places.ts";

/** A worker whose handler goes on until it is told to end. */
const given = () => {
  const [stop, began] = [new AbortController(), [] as string[]];
  const { promise, resolve } = Promise.withResolvers<{ kind: "done" }>();
  const handle = (name: string) => (began.push(name), promise);
  const worker = tenantsPlaces({ most: 2, handle, stopping: stop.signal });
  return {
    began,
    stop: () => stop.abort(),
    end: () => resolve({ kind: "done" }),
    begin: (name: string) => {
      const subject = `herald.plan.growth.${name.slice(0, 1)}`;
      const { signal } = new AbortController();
      return worker.handle(name, { subject, signal, attempt: 1, isRepeated: false, traceparent: null });
    },
  };
};

describe("the places of a worker that tenants share", () => {
  it("are one tenant's to a half, however much of it waits, and another's at once", async () => {
    const { began, begin, end } = given();
    const all = ["a1", "a2", "a3", "a4", "b1"].map(begin);
    expect(began).to.deep.equal(["a1", "a2", "b1"]);
    end();
    expect((await Promise.all(all)).map(({ kind }) => kind)).to.deep.equal(all.map(() => "done"));
    expect(began).to.deep.equal(["a1", "a2", "b1", "a3", "a4"]);
  });

  it("are given up by what waits when the program stops: another has it soon", async () => {
    const { begin, stop, end } = given();
    const first = [begin("a1"), begin("a2")];
    const waiting = begin("a3");
    stop();
    expect(await waiting).to.include({ kind: "retry", delayMs: 250 });
    end();
    await Promise.all(first);
  });
});
