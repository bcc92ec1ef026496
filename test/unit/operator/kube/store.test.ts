import { expect } from "chai";
import { type KubeObject, trimmed } from "#core/runtime/kube/objects.ts";
import { objectStore } from "../../../../operator/kube/store.ts";

const anObject = (version: number, metadata: Partial<KubeObject["metadata"]> = {}): KubeObject => ({
  metadata: { namespace: "a", name: "x", uid: "1", resourceVersion: String(version), ...metadata },
});
const kinds = (events: { kind: string }[]): string[] => events.map(({ kind }) => kind);

describe("object store", () => {
  it("says what is new, what has changed and what went", () => {
    const store = objectStore();
    expect(kinds(store.put(anObject(1)))).to.deep.equal(["added"]);
    expect(kinds(store.put(anObject(2)))).to.deep.equal(["changed"]);
    expect(kinds(store.remove(anObject(3)))).to.deep.equal(["deleted"]);
    expect(kinds(store.remove(anObject(3)))).to.deep.equal([]);
  });

  it("drops the echo of a write and what is older than it", () => {
    const store = objectStore();
    store.put(anObject(10));
    expect(store.put(anObject(10))).to.deep.equal([]);
    expect(store.put(anObject(9))).to.deep.equal([]);
    expect(store.get("a/x")?.metadata.resourceVersion).to.equal("10");
  });

  it("sees an object of the same name but another uid as deleted and made anew", () => {
    const store = objectStore();
    store.put(anObject(5));
    expect(kinds(store.replace([anObject(4, { uid: "2" })]))).to.deep.equal(["deleted", "added"]);
  });

  it("finds in a list what was missed, and shows the rest again", () => {
    const store = objectStore();
    store.put(anObject(1, { name: "same" }));
    store.put(anObject(1, { name: "changed" }));
    store.put(anObject(1, { name: "gone" }));
    const events = store.replace([
      anObject(1, { name: "same" }),
      anObject(2, { name: "changed" }),
      anObject(3, { name: "new" }),
    ]);
    expect(events.map(({ kind, object }) => `${object.metadata.name} ${kind}`)).to.deep.equal([
      "gone deleted",
      "same same",
      "changed changed",
      "new added",
    ]);
  });

  it("finds objects by what they refer to, also after that has changed", () => {
    const store = objectStore<KubeObject & { refs: string[] }>({ ref: ({ refs }) => refs });
    store.put({ ...anObject(1), refs: ["s", "t"] });
    expect(store.by("ref", "s")).to.have.length(1);
    store.put({ ...anObject(2), refs: ["t"] });
    expect(store.by("ref", "s")).to.have.length(0);
    expect(store.by("ref", "t")).to.have.length(1);
    store.replace([]);
    expect(store.by("ref", "t")).to.have.length(0);
  });
});

describe("an object that is kept", () => {
  it("is without what nobody reads, and otherwise as it was", () => {
    const metadata = { ...anObject(1).metadata, finalizers: ["herald.dev/finalizer"], labels: { a: "b" } };
    const annotations = { "herald.dev/rotate": "1" };
    const given = {
      metadata: {
        ...metadata,
        managedFields: [{ manager: "kubectl", fieldsV1: {} }],
        annotations: { ...annotations, "kubectl.kubernetes.io/last-applied-configuration": "{}" },
      },
      spec: { url: "https://hooks.example" },
    };
    expect(trimmed(given)).to.deep.equal({ metadata: { ...metadata, annotations }, spec: given.spec });
    expect(trimmed({ metadata })).to.deep.equal({ metadata });
  });
});
