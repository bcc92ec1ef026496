import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { allResources } from "#core/channels/all-resources.ts";
import { rootDir } from "../../../../dev/files/paths.ts";
import { allKinds } from "../../../../operator/kinds/all.ts";

const textOf = (file: string): string => readFileSync(join(rootDir, file), "utf8");
const samples = globSync("config/samples/*.yaml", { cwd: rootDir }).flatMap((file) =>
  parseAllDocuments(textOf(file)).map((document) => String(document.get("kind"))),
);

describe("kinds/all.ts", () => {
  it("has each kind that has a definition, in the same order", () => {
    expect(allKinds.map(({ definition }) => definition)).to.deep.equal(allResources);
  });

  it("has no kind, plural or collection twice", () => {
    for (const namesOf of [
      ({ definition }: (typeof allKinds)[number]) => definition.kind,
      ({ definition }: (typeof allKinds)[number]) => definition.plural,
      ({ collection }: (typeof allKinds)[number]) => collection.name,
    ]) {
      expect(new Set(allKinds.map(namesOf))).to.have.property("size", allKinds.length);
    }
  });

  it("removes before an app what goes with it later by the same index", () => {
    for (const { collection, goesWithOwner } of allKinds)
      if (collection.owner.kind === "app" && goesWithOwner !== undefined)
        expect(collection.appRemoval, collection.name).to.deep.equal({ index: goesWithOwner.index });
  });

  for (const [position, kind] of allKinds.entries()) {
    const { definition, collection, indexes, links = [], goesWithOwner } = kind;
    const { owner } = collection;

    describe(definition.kind, () => {
      it("links to kinds that there are, by indexes of its own", () => {
        const kinds = allKinds.map((one) => one.definition.kind);
        for (const { from, index } of links) {
          expect(kinds).to.include(from);
          expect(indexes).to.have.property(index);
        }
      });

      it("comes after what its records are part of", () => {
        const owners = new Map([
          ["tenant", "Tenant"],
          ["app", "App"],
        ]);
        const before = allKinds.slice(0, position).map((one) => one.definition.kind);
        if (owner.kind !== "installation") expect(before).to.include(owners.get(owner.kind));
      });

      it("is found by its owner when it goes with it, by an index of its collection", () => {
        if (goesWithOwner === undefined || owner.kind === "installation") return;
        const index = collection.indexes.find(({ name }) => name === goesWithOwner.index);
        expect(Object.keys(index?.key ?? {})[0]).to.equal(owner.member);
      });

      it("has the index by which a term finds all managed documents", () => {
        expect(collection.indexes.find(({ name }) => name === "managed")?.key).to.deep.equal({ "managed.uid": 1 });
      });

      it("has a sample, and is named where an installation is backed up and removed", () => {
        expect(samples).to.include(definition.kind);
        for (const page of ["docs/backup.md", "docs/uninstall.md"])
          expect(textOf(page)).to.include(`${definition.plural}.herald.dev`);
      });
    });
  }
});
