import { type System, system } from "../support/system.ts";
import { loseNode } from "./lost-node.ts";

describe("a node's partition that heals", function () {
  this.timeout(900_000); // every wait inside has a bound of its own
  let at: System;

  before(async function () {
    at = await system();
    if (!at.cluster.can("cut", "heal")) {
      console.log("      pending: E2E_NODE_CUT and E2E_NODE_HEAL are not given");
      this.skip();
    }
  });

  it("moves its work to the others, and nothing that was accepted is lost", () => loseNode(at, ["cut", "heal"]));
});
