import { expect } from "chai";
import { isBlank } from "#core/domain/messages/neutral.ts";

describe("isBlank", () => {
  for (const text of ["", " ", "\n", "\u00a0", "\u200b", "\u200d\ufe0f", "\u3164", "\u2800", "\u2066\u2069", "\u0000"])
    it(`is so of ${JSON.stringify(text)}`, () => expect(isBlank(text)).to.equal(true));

  for (const text of ["a", " . ", "\u200b0", "👍", "\u0600", "ا", "\ufffd"])
    it(`is not so of ${JSON.stringify(text)}`, () => expect(isBlank(text)).to.equal(false));
});
