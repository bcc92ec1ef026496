import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect } from "chai";
import { rootDir } from "../../../dev/paths.ts";
import { until } from "../../support/until.ts";
import { environmentOf, type Installation, installation } from "./harness.ts";
import { manifests } from "./manifests.ts";

describe("operator: node operator/main.ts --once", function () {
  this.timeout(90_000);
  let herald: Installation;
  let make: ReturnType<typeof manifests>;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
  });
  after(() => herald.close());

  const run = async (...args: string[]): Promise<{ code: number; out: string }> => {
    const command = [join(rootDir, "operator/main.ts"), ...args];
    const child = spawn(process.execPath, command, { env: environmentOf(herald), stdio: ["ignore", "pipe", "ignore"] });
    let out = "";
    child.stdout.on("data", (chunk) => {
      out += String(chunk);
    });
    const [code] = (await once(child, "close")) as [number];
    return { code, out };
  };
  const all = () => [make.plan(), make.tenant(), make.app(), make.apiKey(), make.webhook(), make.activityType()];

  it("makes everything true, says how many are ready, and ends with 0", async () => {
    await herald.apply(make.iosSecret());
    for (const object of all().toReversed()) await herald.apply(object); // those that depend on others come first
    expect(await run("--once")).to.deep.equal({ code: 0, out: "6 of 6 resources are ready\n" });
    for (const object of all()) await herald.ready(object);
    expect(await herald.db.collection("webhooks").countDocuments()).to.equal(1);
  });

  it("prints what is not ready, and ends with 2", async () => {
    await herald.apply(make.app({ timeZone: "Europe/Atlantis" }, "lost"));
    const { code, out } = await run("--once");
    expect(code).to.equal(2);
    const [head = "", row = "", last] = out.split("\n");
    expect(head.split(/ {2,}/)).to.deep.equal(["KIND", "NAME", "READY", "REASON", "MESSAGE"]);
    const cells = ["App", `${herald.id}-a/lost`, "False", "InvalidTimeZone"];
    expect(row.split(/ {2,}/).slice(0, 4)).to.deep.equal(cells);
    expect(last).to.equal("6 of 7 resources are ready");
  });

  it("ends with 1 when something is still being tried at the end of its time", async () => {
    await herald.remove(make.app({}, "lost"));
    await herald.apply(make.tenant({ plan: "no-such-plan" }, `${herald.id}-waiting`));
    const first = await run("--once", "--timeout", "60");
    expect(first.code, first.out).to.be.oneOf([1, 2]);
    expect(first.out).to.include(`${herald.id}-waiting`);
    await herald.remove(make.tenant({}, `${herald.id}-waiting`));
  });

  it("touches nothing while another operator leads, and says who", async () => {
    const started = await herald.start();
    await until(() => started.log().includes("leadership.taken"), 10_000);
    const { holder } = JSON.parse(
      started
        .log()
        .split("\n")
        .find((line) => line.includes("leadership.taken")) ?? "{}",
    ) as { holder: string };
    const { code, out } = await run("--once");
    expect({ code, out }).to.deep.equal({ code: 1, out: `another operator leads: ${holder}; nothing was done\n` });
    await started.stop();
  });

  it("explains itself, and refuses what it does not know", async () => {
    expect(await run("--help")).to.satisfy(
      ({ code, out }: { code: number; out: string }) => code === 0 && out.includes("--timeout SECONDS"),
    );
    expect((await run("--onec")).code).to.equal(1);
    expect((await run("--once", "--timeout", "0")).code).to.equal(1);
  });
});
