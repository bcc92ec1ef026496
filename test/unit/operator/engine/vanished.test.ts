import { expect } from "chai";
import type { ObjectMeta, Resource } from "#core/runtime/kube/objects.ts";
import { finalizer } from "../../../../operator/engine/object-writer.ts";
import { vanished } from "../../../../operator/engine/vanished.ts";
import type { StoreEvent } from "../../../../operator/kube/store.ts";

const aResource = (metadata: Partial<ObjectMeta> = {}): Resource => ({
  metadata: { name: "gold", uid: "1", resourceVersion: "3", finalizers: [finalizer], ...metadata },
  spec: {},
});
const deleted = (object: Resource): StoreEvent<Resource> => ({ kind: "deleted", object });

describe("an object that goes although it had our finalizer", () => {
  const cases = [
    { it: "is found out", metadata: {}, afterMs: 60_000, isOne: true },
    { it: "is not meant when it asked to go", metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, isOne: false },
    { it: "is not meant when somebody took the finalizer away", metadata: { finalizers: [] }, isOne: false },
    { it: "is not meant when another of its name was guarded", metadata: { uid: "2" }, isOne: false },
    { it: "is not meant when it was guarded long ago", metadata: {}, afterMs: 120_000, isOne: false },
  ];
  for (const { it: name, metadata, afterMs = 0, isOne } of cases) {
    it(name, () => {
      let nowMs = 5;
      const gone = vanished(() => nowMs);
      gone.guard(aResource({ finalizers: [] }));
      nowMs += afterMs;
      const object = aResource(metadata);
      expect(gone.note(deleted(object))).to.equal(isOne);
      expect(gone.of("gold")).to.deep.equal(isOne ? [object] : []);
    });
  }

  it("is kept until what was made for it is taken away", () => {
    const gone = vanished();
    gone.guard(aResource());
    gone.note(deleted(aResource()));
    gone.forget(aResource({ uid: "2" }));
    expect([...gone.all()]).to.have.length(1);
    gone.forget(aResource());
    expect([...gone.all()]).to.have.length(0);
  });
});
