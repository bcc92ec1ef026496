import { expect } from "chai";
import { tenantTurns } from "../../../../dispatcher/work/turns.ts";

const never = new AbortController().signal;

/** Work of tenants with 4 places and room for 3 that wait: it says which runs began, and ends them when it is told to. */
const given = () => {
  const turns = tenantTurns({ places: 4, waiting: 3 });
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    began,
    /** `name` is the tenant's letter and a number. */
    begin: (name: string, signal = never) =>
      turns(
        name.slice(0, 1),
        async () => {
          began.push(name);
          await new Promise<void>((resolve) => ends.set(name, resolve));
          return name;
        },
        signal,
      ),
    end: async (name: string): Promise<void> => {
      ends.get(name)?.();
      await new Promise(setImmediate);
    },
  };
};

describe("the turns of tenants", () => {
  it("leave one tenant half of the places at most", async () => {
    const { began, begin } = given();
    for (const name of ["a1", "a2", "a3", "b1", "b2"]) void begin(name);
    expect(began).to.deep.equal(["a1", "a2", "b1", "b2"]);
  });

  it("come one after another, whatever a tenant has waiting", async () => {
    const { began, begin, end } = given();
    for (const name of ["a1", "a2", "b1", "b2", "a3", "a4", "c1"]) void begin(name);
    for (const name of ["a1", "a2", "b1"]) await end(name);
    expect(began.slice(4)).to.deep.equal(["a3", "c1", "a4"]);
  });

  it("make room for another tenant when too much waits", async () => {
    const { begin, end, began } = given();
    for (const name of ["a1", "a2", "b1", "b2", "a3", "a4"]) void begin(name);
    const last = begin("a5");
    void begin("c1");
    expect(await last).to.equal("later");
    for (const name of ["a1", "a2"]) await end(name);
    expect(began.slice(4)).to.deep.equal(["a3", "c1"]);
  });

  it("are given up when they are waited for too long, and hand on what others gave back", async () => {
    const { begin, end, began } = given();
    const stop = new AbortController();
    for (const name of ["a1", "a2", "b1", "b2"]) void begin(name);
    const late = begin("c1", stop.signal);
    void begin("d1");
    stop.abort();
    expect(await late).to.equal("later");
    await end("a1");
    expect(began.slice(4)).to.deep.equal(["d1"]);
    expect(await begin("e1", stop.signal)).to.equal("later");
  });

  it("free a place when work fails", async () => {
    const turns = tenantTurns({ places: 1, waiting: 1 });
    const failed = turns("a", () => Promise.reject(new Error("no")), never).catch(({ message }: Error) => message);
    const next = turns("b", async () => "ran", never);
    expect([await failed, await next]).to.deep.equal(["no", "ran"]);
  });
});
