import spectral, { type RulesetDefinition } from "@stoplight/spectral-core";
import rulesets from "@stoplight/spectral-rulesets";
import { expect } from "chai";
import { document } from "../../../../../apiserver/features.ts";
import { referenceOf } from "../../../../../apiserver/reference/document.ts";

const ruleset = { extends: [rulesets.oas] } as RulesetDefinition; // sound: both packages are of one release

/** Takes examples of events for schemas, because both have a `type` and an `example`. */
const isMistaken = ({ code, path }: { code: string | number; path: readonly (string | number)[] }): boolean =>
  code === "oas3-valid-schema-example" && path.join(".").endsWith("examples.0.data.0.example");

describe("Spectral's ruleset for OpenAPI", () => {
  const findings = async (value: object): Promise<string[]> => {
    const linter = new spectral.Spectral();
    linter.setRuleset(ruleset);
    const found = await linter.run(structuredClone(value) as Record<string, unknown>);
    return found
      .filter((one) => !isMistaken(one))
      .map(({ code, path, message }) => `${code} ${path.join(".")}: ${message}`);
  };

  it("has nothing to say against the OpenAPI document", async () => {
    expect(await findings(document())).to.deep.equal([]);
  });

  it("has nothing to say against the document of the reference", async () => {
    expect(await findings(referenceOf(document(), "https://api.example.com"))).to.deep.equal([]);
  });

  it("finds what is wrong", async () => {
    const paths = { "/v1/things/{id}": { get: { responses: {} } } };
    const wrong = { ...document(), paths, components: {} };
    expect((await findings(wrong)).join("\n"))
      .to.contain("path-params")
      .and.contain("operation-operationId");
  });
});
