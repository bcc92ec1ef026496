import { expect } from "chai";
import { isRotationDue } from "../../../../operator/policies/own-secret.ts";

describe("policy: secrets of resources", () => {
  const rotations = [
    { asked: undefined, rotatedFor: null, due: false },
    { asked: "1", rotatedFor: null, due: true },
    { asked: "1", rotatedFor: "1", due: false },
    { asked: "2", rotatedFor: "1", due: true },
    { asked: "", rotatedFor: "1", due: false },
  ];
  for (const { asked, rotatedFor, due } of rotations) {
    it(`${due ? "rotate" : "do not rotate"} for ${asked} after ${rotatedFor}`, () => {
      expect(isRotationDue(asked, rotatedFor)).to.equal(due);
    });
  }
});
