import { expect } from "chai";
import type { Resource } from "#core/runtime/kube/objects.ts";
import { isNews } from "../../../../operator/engine/priority.ts";

describe("what happened to an object", () => {
  const aTenant = (status: object): Resource => ({
    metadata: { name: "acme", uid: "1", resourceVersion: "1", generation: 1 },
    spec: {},
    status,
  });
  const changed = (before: object, after: object) => ({
    kind: "changed" as const,
    before: aTenant(before),
    object: aTenant(after),
  });
  const usage = (deliveries: number) => ({ usage: { lastHour: { deliveries } } });

  it("is no news to those that depend on it when it is what it uses", () => {
    expect(isNews(changed({ id: "ten_1", ...usage(1) }, { id: "ten_1", ...usage(2) }))).to.equal(false);
    expect(isNews(changed({ id: "ten_1" }, { id: "ten_1", ...usage(2) }))).to.equal(false);
  });

  it("is news when its status says something else that is new", () => {
    expect(isNews(changed(usage(1), { id: "ten_1", ...usage(1) }))).to.equal(true);
  });
});
