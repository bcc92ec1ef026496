import { expect } from "chai";
import { ApiserverConfig } from "#config/apiserver.ts";
import { DispatcherConfig } from "#config/dispatcher.ts";
import { OperatorConfig } from "#config/operator.ts";
import { allResources } from "#core/channels/all-resources.ts";
import { formatMessages } from "#core/schema/json/formats.ts";
import { wordsOf } from "#core/schema/json/patterns.ts";
import { document, operations } from "../../../apiserver/features.ts";

/** Every value that schemas have for a keyword, but what they forbid, by where it stands. */
const found = (keyword: string, schema: unknown, at: string, into = new Map<string, string>()): Map<string, string> => {
  if (typeof schema !== "object" || schema === null) return into;
  for (const [name, below] of Object.entries(schema)) {
    if (name === keyword && typeof below === "string") into.set(below, at);
    else if (name !== "not" && name !== "examples") found(keyword, below, `${at}/${name}`, into);
  }
  return into;
};

/** What is parsed at the borders where people write. */
const schemas = {
  requests: operations.map(({ id, body, form, query }) => ({ [id]: [body, form?.schema, query] })),
  document: document(),
  resources: allResources.map(({ kind, spec }) => ({ [kind]: spec })),
  settings: [ApiserverConfig, DispatcherConfig, OperatorConfig],
};

describe("what people are told of a text that has another form", () => {
  for (const [name, schema] of Object.entries(schemas)) {
    it(`is words for every pattern of the ${name}, and no expression`, () => {
      const patterns = [...found("pattern", schema, name)];
      expect(patterns.length).to.be.above(5);
      const wordless = patterns.filter(([pattern]) => wordsOf(pattern) === undefined);
      expect(wordless).to.deep.equal([]);
      for (const [pattern] of patterns) expect(wordsOf(pattern)).to.not.match(/\\|\{\d|\^[^_]|\]\+|\(\?/);
    });

    it(`is words for every format of the ${name}`, () => {
      const wordless = [...found("format", schema, name)].filter(([format]) => formatMessages[format] === undefined);
      expect(wordless).to.deep.equal([]);
    });
  }
});
