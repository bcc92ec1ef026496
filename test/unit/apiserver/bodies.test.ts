import { expect } from "chai";
import { routes } from "../../../apiserver/routes/all.ts";

describe("the body of an operation", () => {
  for (const { id, body } of routes) {
    if (body === undefined) continue;
    it(`of ${id} admits no member that it does not name`, () => {
      expect(body).to.include({ additionalProperties: false });
    });
  }
});
