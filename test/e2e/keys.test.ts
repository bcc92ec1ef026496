import { expect } from "chai";
import { eventually } from "./support/cluster/cluster.ts";
import { commandsOf, run } from "./support/pages.ts";
import { releaseName } from "./support/release.ts";
import { type System, system } from "./support/system.ts";

const page = "keys.md";
const perSecond = 10;
const deliveredWithinMs = 60_000;
const sealedWithinMs = 120_000;

describe("the page on the key ring, on a cluster with nodes", function () {
  this.timeout(1_200_000); // every wait inside has a bound of its own
  let at: System;

  before(async () => {
    at = await system();
  });

  it("is followed under load: no request fails, nothing is lost or doubled, and the old key is gone", async () => {
    const [old = ""] = await kids(at);
    const before = at.doubled();
    const { accepted, failures } = await at.underLoad(perSecond, async () => {
      await follow(at, "1. Add a key");
      const [first, added = ""] = await kids(at);
      expect(first).to.equal(old);
      await follow(at, "2. Seal with it");
      expect(await kids(at)).to.deep.equal([added, old]);
      let shown = "";
      await eventually("nothing that is sealed with the old key", sealedWithinMs, async () => {
        shown = await follow(at, "3. Wait");
        return shown.includes(`${added} `) && sealedBy(old, shown).every((count) => count === "0") ? true : null;
      }).catch(() => expect.fail(shown));
      await follow(at, "4. Take the old key out");
      expect(await kids(at)).to.deep.equal([added]);
      await at.release.settled();
    });
    expect(failures).to.deep.equal([]);
    expect(accepted.length).to.be.greaterThan(250);
    await at.inbox.delivered(accepted, deliveredWithinMs);
    expect(at.doubled()).to.deep.equal(before);
  });
});

/** Runs the commands of a section. Gives what they print. */
const follow = (at: System, section: string): Promise<string> => run(at, commandsOf(page, section).join("\n"));

/** The ids of the keys in the ring that the operator's pods are given, in their order. */
const kids = async ({ cluster }: System): Promise<string[]> => {
  const get = (...what: string[]) => cluster.kubectl(["get", "--namespace", releaseName, ...what]);
  const source = '{.spec.template.spec.volumes[?(@.name=="settings")].projected.sources[0].secret.name}';
  const secret = await get("deployment", "herald-operator", "--output", `jsonpath=${source}`);
  const ring = await get("secret", secret, "--output", "jsonpath={.data.key-ring}");
  const lines = Buffer.from(ring, "base64").toString().trim().split("\n");
  return lines.map((line) => line.split(":")[0] ?? "");
};

/** How many secrets, and documents of each collection, a key has sealed, as `--keys` prints them. */
const sealedBy = (kid: string, shown: string): string[] => {
  const line = shown.split("\n").find((one) => one.startsWith(`${kid} `));
  return line === undefined ? [] : line.trim().split(/\s+/).slice(2, -1);
};
