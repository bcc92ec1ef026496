import { expect } from "chai";
import { inSuite } from "../support/suite/soak.ts";
import { type System, system } from "./support/system.ts";

/** Pushes a second, each of which causes a webhook: the soak is `HERALD_TEST_SOAK=1 make e2e FILES=test/e2e/upgrade.test.ts`. */
const perSecond = inSuite(10, { soak: 200 });
const deliveredWithinMs = inSuite(60_000, { soak: 300_000 });

describe("under load", function () {
  this.timeout(900_000); // every wait inside has a bound of its own
  let at: System;

  before(async () => {
    at = await system();
  });

  it("an upgrade and its rollback fail no request, and lose and double no message and no webhook", async () => {
    const [from, to] = at.env.images.tags;
    const before = at.doubled();
    const beganMs = performance.now();
    const { accepted, failures } = await at.underLoad(perSecond, async () => {
      await at.release.upgrade(`image.tag=${to}`);
      await at.release.settled();
      expect(await images(at)).to.deep.equal([to]);
      await at.release.rollback();
      await at.release.settled();
      expect(await images(at)).to.deep.equal([from]);
    });
    const rate = accepted.length / ((performance.now() - beganMs) / 1000);
    console.log(`      ${accepted.length} requests accepted (${rate.toFixed(0)}/s), ${failures.length} failed`);
    expect(failures).to.deep.equal([]);
    expect(accepted.length).to.be.greaterThan(250);
    await at.inbox.delivered(accepted, deliveredWithinMs);
    expect(at.doubled()).to.deep.equal(before);
  });
});

/** The tags that run. */
const images = async ({ cluster }: System): Promise<string[]> => {
  const path = "jsonpath={.items[*].spec.containers[*].image}";
  const running = ["--field-selector", "status.phase=Running"]; // the pod of helm test has ended
  const printed = await cluster.kubectl(["get", "pods", "--namespace", "herald", ...running, "--output", path]);
  return [...new Set(printed.split(" ").map((image) => image.split(":")[1] ?? ""))];
};
