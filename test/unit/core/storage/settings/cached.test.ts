import { expect } from "chai";
import { cached } from "#core/storage/settings/cached.ts";

describe("cached", () => {
  let nowMs = 0;
  let loads: string[] = [];
  const clock = { now: () => new Date(nowMs) };
  const make = (load = (key: string) => Promise.resolve(`${key}${loads.push(key)}`)) =>
    cached({ load, ttlMs: 100, max: 2, clock });
  beforeEach(() => {
    nowMs = Date.parse("2026-03-01T12:00:00Z");
    loads = [];
  });

  it("loads a key once while it is fresh, again when it has expired", async () => {
    const cache = make();
    expect([await cache.get("a"), await cache.get("a")]).to.deep.equal(["a1", "a1"]);
    nowMs += 100;
    expect(await cache.get("a")).to.equal("a2");
  });

  it("shares one load between callers at the same time", async () => {
    const cache = make();
    expect(await Promise.all([cache.get("a"), cache.get("a")])).to.deep.equal(["a1", "a1"]);
  });

  it("does not keep a failed load", async () => {
    let isBroken = true;
    const cache = make(() => (isBroken ? Promise.reject(new Error("away")) : Promise.resolve("back")));
    expect(await cache.get("a").catch((error: Error) => error.message)).to.equal("away");
    isBroken = false;
    expect(await cache.get("a")).to.equal("back");
  });

  it("does not keep a load that was under way when its key was dropped", async () => {
    const cache = make();
    const before = cache.get("a");
    cache.drop("a");
    expect([await before, await cache.get("a")]).to.deep.equal(["a1", "a2"]);
  });

  it("drops the keys whose value fits, and those that are being loaded", async () => {
    const cache = make();
    for (const key of ["a", "b"]) await cache.get(key);
    cache.dropIf((value) => value === "a1");
    expect([await cache.get("a"), await cache.get("b")]).to.deep.equal(["a3", "b2"]);
    const loading = cache.get("c");
    cache.dropIf(() => false);
    expect([await loading, await cache.get("c")]).to.deep.equal(["c4", "c5"]);
  });

  it("keeps the most recently used keys only", async () => {
    const cache = make();
    for (const key of ["a", "b", "a", "c", "a", "b"]) await cache.get(key);
    expect(loads).to.deep.equal(["a", "b", "c", "b"]);
  });
});
