import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "chai";
import { programFile } from "../../../../dev/processes/programs.ts";
import { until } from "../../../support/until.ts";
import { environmentOf, type Installation, installation } from "../support/harness.ts";
import { httpLinkTo } from "../support/http-link.ts";
import { manifests } from "../support/manifests.ts";

describe("operator: operator.js --once", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
  });
  after(() => herald.close());

  const run = async (env: NodeJS.ProcessEnv, ...args: string[]): Promise<{ code: number; out: string }> => {
    const command = [programFile("operator"), ...args];
    const environment = environmentOf(herald, env);
    const child = spawn(process.execPath, command, { env: environment, stdio: ["ignore", "pipe", "ignore"] });
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
    expect(await run({}, "--once")).to.deep.equal({ code: 0, out: "6 of 6 resources are ready\n" });
    for (const object of all()) await herald.ready(object);
    expect(await herald.db.collection("webhooks").countDocuments()).to.equal(1);
  });

  it("prints what is not ready, and ends with 2", async () => {
    await herald.apply(make.app({ timeZone: "Europe/Atlantis" }, "lost"));
    const { code, out } = await run({}, "--once");
    expect(code).to.equal(2);
    const [head = "", row = "", last] = out.split("\n");
    expect(head.split(/ {2,}/)).to.deep.equal(["KIND", "NAME", "READY", "REASON", "MESSAGE"]);
    const cells = ["App", `${herald.id}-a/lost`, "False", "InvalidTimeZone"];
    expect(row.split(/ {2,}/).slice(0, 4)).to.deep.equal(cells);
    expect(last).to.equal("6 of 7 resources are ready");
  });

  it("ends with 1 when something is still being tried at the end of its time, and says what", async () => {
    const link = await httpLinkTo(herald.servers.kubeconfig);
    const isSecret = ({ path }: { path: string }): boolean => path.endsWith("/secrets/ios");
    link.answer(isSecret, { status: 500, reason: "InternalError" }, 10_000);
    await herald.remove(make.app({}, "lost"));
    await herald.patch(make.app(), { spec: { displayName: "Renamed" } });
    const { code, out } = await run({ KUBECONFIG: link.kubeconfig }, "--once", "--timeout", "10");
    await link.close();
    expect(code).to.equal(1);
    expect(out).to.match(/App +\S+\/shop +Unknown +KubernetesError/);
    expect(out).to.include("not all of them were decided within 10 s");
  });

  it("ends with 1 when a store is not there", async () => {
    const { code, out } = await run({ HERALD_NATS_URL: "nats://127.0.0.1:1" }, "--once", "--timeout", "2");
    expect({ code, out }).to.deep.equal({ code: 1, out: "" });
  });

  it("touches nothing while another operator leads, and says who", async () => {
    const started = await herald.start();
    await until(() => started.log().includes("leadership.taken"), 25_000);
    const { holder } = JSON.parse(
      started
        .log()
        .split("\n")
        .find((line) => line.includes("leadership.taken")) ?? "{}",
    ) as { holder: string };
    const { code, out } = await run({}, "--once");
    expect({ code, out }).to.deep.equal({ code: 1, out: `another operator leads: ${holder}; nothing was done\n` });
    await started.stop();
  });

  it("tells by --keys what each key seals, and does not start without one unless that is lost", async () => {
    const rows = async (env: NodeJS.ProcessEnv = {}): Promise<string[][]> => {
      const { out } = await run(env, "--keys");
      return out
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/ {2,}/).slice(0, 6));
    };
    const [, ours] = await rows();
    expect(ours?.slice(0, 2).concat(ours.slice(3, 5))).to.deep.equal(["k1", "sealing", "1", "1"]); // one App, one Webhook
    const other = { HERALD_KEY_RING: `k2:${Buffer.alloc(32).toString("base64")}` };
    expect((await rows(other)).slice(1).map(([kid, state]) => [kid, state])).to.deep.equal([
      ["k2", "sealing"],
      ["k1", "missing"],
    ]);
    expect(await run(other, "--once")).to.deep.equal({ code: 1, out: "" });
    const { code, out } = await run({ ...other, HERALD_LOST_KEYS: "k1" }, "--once");
    expect({ code, out }).to.deep.equal({ code: 0, out: "6 of 6 resources are ready\n" });
    expect((await rows(other))[1]?.slice(0, 2)).to.deep.equal(["k2", "sealing"]);
  });

  it("explains itself, and refuses what it does not know", async () => {
    expect(await run({}, "--help")).to.satisfy(
      ({ code, out }: { code: number; out: string }) => code === 0 && out.includes("--timeout SECONDS"),
    );
    expect((await run({}, "--onec")).code).to.equal(1);
    expect((await run({}, "--once", "--timeout", "0")).code).to.equal(1);
  });
});
