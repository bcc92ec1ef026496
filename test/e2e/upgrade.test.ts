import { expect } from "chai";
import { type System, system } from "./support/system.ts";

const deliveredWithinMs = 60_000;

describe("under load", function () {
  this.timeout(900_000); // every wait inside has a bound of its own
  let at: System;

  before(async () => {
    at = await system();
  });

  it("an upgrade and its rollback fail no request and lose no message", async () => {
    const [from, to] = at.env.images.tags;
    const { accepted, failures } = await at.underLoad(10, async () => {
      await at.release.upgrade(`image.tag=${to}`);
      await at.release.settled();
      expect(await images(at)).to.deep.equal([to]);
      await at.release.rollback();
      await at.release.settled();
      expect(await images(at)).to.deep.equal([from]);
    });
    console.log(`      ${accepted.length} requests accepted, ${failures.length} failed`);
    expect(failures).to.deep.equal([]);
    expect(accepted.length).to.be.greaterThan(250);
    await at.inbox.delivered(accepted, deliveredWithinMs);
  });
});

/** The tags that run. */
const images = async ({ cluster }: System): Promise<string[]> => {
  const path = "jsonpath={.items[*].spec.containers[*].image}";
  const running = ["--field-selector", "status.phase=Running"]; // the pod of helm test has ended
  const printed = await cluster.kubectl(["get", "pods", "--namespace", "herald", ...running, "--output", path]);
  return [...new Set(printed.split(" ").map((image) => image.split(":")[1] ?? ""))];
};
