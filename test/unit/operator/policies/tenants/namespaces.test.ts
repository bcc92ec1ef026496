import { expect } from "chai";
import { type Claimant, sharesOf } from "../../../../../operator/policies/tenants/namespaces.ts";

const claimant = (name: string, parts: Partial<Claimant> = {}): Claimant => ({
  name,
  createdAt: "2026-01-01T00:00:00Z",
  claims: ["n"],
  owns: [],
  ...parts,
});

describe("policy: namespaces", () => {
  const cases = [
    { it: "gives an unclaimed namespace", others: [], granted: true },
    {
      it: "gives it to the older of two new claims",
      others: [claimant("y", { createdAt: "2026-02-01T00:00:00Z" })],
      granted: true,
    },
    { it: "refuses it to the younger", others: [claimant("y", { createdAt: "2025-01-01T00:00:00Z" })], granted: false },
    { it: "decides by name in the same second", others: [claimant("b")], granted: false },
    {
      it: "leaves it to the one that has it, though younger",
      others: [claimant("y", { createdAt: "2027", owns: ["n"] })],
      granted: false,
    },
    {
      it: "gives it when the one that has it claims it no more",
      others: [claimant("y", { claims: [], owns: ["n"] })],
      granted: true,
    },
    { it: "takes none of the same name for itself", others: [claimant("x", { owns: ["n"] })], granted: false },
  ];
  for (const { it: name, others, granted } of cases) {
    it(name, () => {
      expect(sharesOf(claimant("x"), others).granted).to.deep.equal(granted ? ["n"] : []);
    });
  }
});
