import { expect } from "chai";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { EventDefinitionRow } from "#core/storage/events/definitions.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import { definer } from "../../../../../apiserver/events/definitions/define.ts";
import { anApp } from "../../../../support/rows/fixtures.ts";

const now = new Date("2026-11-21T12:00:00Z");
const [one, other] = ["app_1", "app_2"].map((_id) => anApp({ tenant_id: "ten_1", _id })) as [AppRow, AppRow];

describe("names of events that are new", () => {
  const asked: string[][] = [];
  const define = async ({ appId }: OfApp, names: readonly string[]) => {
    asked.push([appId, ...names]);
    if (names.includes("wrong")) throw new Error("a fault of this name");
    return names.filter((name) => name !== "no room").map((name) => ({ name }) as EventDefinitionRow); // all that is read
  };
  const newDefiner = () => {
    asked.length = 0;
    return definer({ definitions: { define }, clock: { now: () => now } });
  };

  it("are defined together for requests that come at the same time, by app, and once", async () => {
    const defining = newDefiner();
    const all = [
      { app: one, names: ["a", "b"] },
      { app: other, names: ["a"] },
      { app: one, names: ["c", "no room"] },
    ];
    const defined = await Promise.all(all.map(({ app, names }) => defining(app, names)));
    expect(defined).to.deep.equal([new Set(["a", "b"]), new Set(["a"]), new Set(["c"])]);
    expect(asked).to.deep.equal([
      ["app_1", "a", "b", "c", "no room"],
      ["app_2", "a"],
    ]);
    expect(await defining(one, ["c", "a"])).to.deep.equal(new Set(["c", "a"]));
    expect(asked).to.have.length(2);
  });

  it("are no more than a thousand in one write, or those of one request", async () => {
    const defining = newDefiner();
    const names = (of: string) => Array.from({ length: 600 }, (_, n) => `${of}_${n}`);
    await Promise.all([defining(one, names("a")), defining(one, names("b")), defining(other, ["c"])]);
    expect(asked.map(([appId, ...all]) => [appId, all.length])).to.deep.equal([
      ["app_1", 600],
      ["app_1", 600],
      ["app_2", 1],
    ]);
  });

  it("fail for no other request when one of them is at fault", async () => {
    const defining = newDefiner();
    const ends = await Promise.allSettled([defining(one, ["a"]), defining(one, ["wrong"]), defining(other, ["b"])]);
    expect(ends.map(({ status }) => status)).to.deep.equal(["fulfilled", "rejected", "fulfilled"]);
  });
});
