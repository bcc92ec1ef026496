import { type System, system } from "../support/system.ts";
import { loseNode } from "./lost-node.ts";

describe("a node's power cut", function () {
  this.timeout(900_000); // every wait inside has a bound of its own
  let at: System;

  before(async function () {
    at = await system();
    if (!at.cluster.can("stop", "start")) {
      console.log("      pending: E2E_NODE_STOP and E2E_NODE_START are not given");
      this.skip();
    }
  });

  it("moves its work to the others, and nothing that was accepted is lost", () => loseNode(at, ["stop", "start"]));
});
