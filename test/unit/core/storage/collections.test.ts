import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { allCollections } from "#core/storage/collections.ts";
import type { CollectionSpec } from "#core/storage/mongo/collection.ts";
import { rootDir } from "../../../../dev/files/paths.ts";

/** The indexes that a declaration names, and the member that each has to begin with; null: any. */
const indexesNamed = ({ appRemoval, retention }: CollectionSpec): { index: string; first: string | null }[] => [
  ...("index" in appRemoval ? [{ index: appRemoval.index, first: "app_id" }] : []),
  ...("plan" in retention ? [{ index: retention.plan, first: "plan" }] : []),
  ...("index" in retention ? [{ index: retention.index, first: null }] : []),
];

const isCollection = (exported: unknown): exported is CollectionSpec =>
  typeof exported === "object" && exported !== null && "appRemoval" in exported;

describe("the collections", () => {
  it("are all that a file of core/storage declares, each once", async () => {
    const dir = join(rootDir, "core/storage");
    const files = readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    const modules = await Promise.all(files.map((file) => import(join(dir, file)) as Promise<object>));
    const declared = modules.flatMap((exported) => Object.values(exported).filter(isCollection));
    const namesOf = (specs: readonly CollectionSpec[]) => specs.map(({ name }) => name).toSorted();
    expect(namesOf(allCollections)).to.deep.equal(namesOf(declared));
    expect(new Set(namesOf(allCollections)).size).to.equal(allCollections.length);
  });

  it("have the indexes by which their documents go", () => {
    for (const spec of allCollections) {
      for (const { index, first } of indexesNamed(spec)) {
        const key = spec.indexes.find(({ name }) => name === index)?.key ?? {};
        expect(Object.keys(key), `${spec.name}.${index}`).to.not.be.empty;
        if (first !== null) expect(Object.keys(key)[0], `${spec.name}.${index}`).to.equal(first);
      }
    }
  });

  it("say of every index with a time that it is their retention", () => {
    for (const { name, indexes, retention } of allCollections) {
      const expiring = indexes.filter((index) => index.expireAfterSeconds !== undefined).map((index) => index.name);
      expect(expiring, name).to.deep.equal("index" in retention ? [retention.index] : []);
    }
  });

  it("go only with one that is removed by a function of its own", () => {
    const removed = allCollections.filter(({ appRemoval }) => "remove" in appRemoval).map(({ name }) => name);
    for (const { appRemoval, retention } of allCollections)
      for (const fate of [appRemoval, retention]) if ("with" in fate) expect(removed).to.include(fate.with);
  });

  it("find a person's own documents by their id, or in an index", () => {
    for (const { name, indexes, erasure } of allCollections) {
      const found = ["_id", ...indexes.flatMap(({ key }) => Object.keys(key).slice(0, 2))];
      if ("member" in erasure) expect(found, name).to.include(erasure.member);
      if ("subscription" in erasure) expect(found, name).to.include(erasure.subscription);
    }
  });

  it("give a reason for what stays", () => {
    for (const { name, appRemoval, erasure, retention } of allCollections)
      for (const fate of [appRemoval, erasure, retention]) if ("kept" in fate) expect(fate.kept, name).to.not.equal("");
  });
});
