import { expect } from "chai";
import { stringify } from "yaml";
import { check } from "../../../kubectl/lint/check.ts";
import { crdCases } from "../../integration/operator/resources/crd-cases.ts";
import { manifests } from "../../integration/operator/support/manifests.ts";

const make = manifests({ id: "t" }, "shop");
const findingsOf = (object: object) =>
  check([{ file: "a.yaml", text: stringify(object) }], { namespace: "default", isWhole: false }).findings;

describe("lint, of what the API server refuses by a CRD", () => {
  for (const { it: name, object } of crdCases(() => make))
    it(`finds ${name}`, () => {
      const errors = findingsOf(object()).filter(({ level }) => level === "error");
      expect(errors.map(({ rule }) => rule)).to.satisfy((rules: string[]) =>
        rules.some((rule) => rule === "schema" || rule === "cel"),
      );
    });

  it("admits what the API server admits", () => {
    const right = [
      make.plan(),
      make.tenant(),
      make.app(),
      make.apiKey({ expiresAt: "2030-01-01T00:00:00Z" }),
      make.webhook({ url: "http://127.0.0.1:8080/hook?a=b@c" }),
      make.activityType(),
      make.segment(),
      make.template(),
      make.inAppMessage(),
      make.lake({ format: "parquet", compression: "zstd" }),
      make.incident(),
    ];
    for (const object of right) expect(findingsOf(object), object.kind).to.deep.equal([]);
  });
});
