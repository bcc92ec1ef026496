import { expect } from "chai";
import pino from "pino";
import { Unavailable } from "#core/errors.ts";
import { type PurgeDeps, pass } from "../../../../dispatcher/clean-up/retention.ts";
import { handClock, noon } from "../../../support/rows/work.ts";

const daysBefore = (days: number) => new Date(noon.getTime() - days * 86_400_000);
const never = new AbortController().signal;

const given = (change: Partial<PurgeDeps> = {}) => {
  const asked: [string, Date][] = [];
  const asides: unknown[] = [];
  const deps: PurgeDeps = {
    plans: async () => [
      { _id: "free", retention_days: 30 },
      { _id: "growth", retention_days: 365 },
    ],
    planNames: async () => [],
    removeOldest: async (plan, before) => {
      asked.push([plan, before]);
      return { removed: 0, isMore: false };
    },
    appsAfter: async () => ({ apps: [], last: null }),
    removeOldestOf: async (app, before) => {
      asked.push([app, before]);
      return { removed: 0, isMore: false };
    },
    isOurs: async () => true,
    setAside: () => void asides.push(1),
    clock: handClock(),
    log: pino({ level: "silent" }),
    ...change,
  };
  return { asked, asides, deps };
};

describe("purge", () => {
  it("asks for what each plan keeps no longer", async () => {
    const { asked, deps } = given();
    await pass(deps, never);
    expect(asked).to.deep.equal([
      ["free", daysBefore(30)],
      ["growth", daysBefore(365)],
    ]);
  });

  it("keeps what was accepted under a plan that is gone as long as any plan keeps its own", async () => {
    const { asked, deps } = given({ planNames: async () => ["free", "gone"] });
    await pass(deps, never);
    expect(asked.at(-1)).to.deep.equal(["gone", daysBefore(365)]);
    expect(asked).to.have.lengthOf(3);
    await pass({ ...deps, plans: async () => [] }, never);
    expect(asked).to.have.lengthOf(3);
  });

  it("asks for what apps keep for a shorter time, page by page of them", async () => {
    const pages = new Map([
      ["", { apps: [{ appId: "app_b", days: 7 }], last: "app_c" }],
      ["app_c", { apps: [{ appId: "app_d", days: 1 }], last: "app_d" }],
    ]);
    const { asked, deps } = given({
      plans: async () => [],
      appsAfter: async (after) => pages.get(after) ?? { apps: [], last: null },
    });
    await pass(deps, never);
    expect(asked).to.deep.equal([
      ["app_b", daysBefore(7)],
      ["app_d", daysBefore(1)],
    ]);
  });

  it("goes on page by page for as long as there is more", async () => {
    let pages = 3;
    const { deps } = given({
      plans: async () => [{ _id: "free", retention_days: 30 }],
      removeOldest: async () => ({ removed: 100, isMore: --pages > 0 }),
    });
    await pass(deps, never);
    expect(pages).to.equal(0);
  });

  it("goes on with the other plans when one fails, which is counted, and with none while MongoDB is away", async () => {
    const failing = (error: Error) =>
      given({
        removeOldest: async (plan, before) => {
          given_.push([plan, before]);
          if (plan === "free") throw error;
          return { removed: 0, isMore: false };
        },
      });
    const given_: [string, Date][] = [];
    const one = failing(new TypeError("no"));
    expect(await pass(one.deps, never)).to.equal(false);
    expect(given_.map(([plan]) => plan)).to.deep.equal(["free", "growth"]);
    expect(one.asides).to.have.lengthOf(1);
    const away = failing(new Unavailable("MongoDB"));
    await pass(away.deps, never).then(
      () => expect.fail("it was away"),
      (error: unknown) => expect(error).to.be.instanceOf(Unavailable),
    );
    expect(away.asides).to.have.lengthOf(0);
  });

  it("leaves it to the process that has the lease", async () => {
    const { asked, deps } = given({ isOurs: async () => false });
    await pass(deps, never);
    expect(asked).to.deep.equal([]);
  });

  it("stops between pages when the program does", async () => {
    const stop = new AbortController();
    let pages = 0;
    const { deps } = given({
      removeOldest: async () => {
        pages++;
        stop.abort();
        return { removed: 100, isMore: true };
      },
      plans: async () => [{ _id: "free", retention_days: 30 }],
    });
    await pass(deps, stop.signal);
    expect(pages).to.equal(1);
  });
});
