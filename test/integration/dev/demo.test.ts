import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect } from "chai";
import { MongoClient } from "mongodb";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { commands } from "../../../dev/demo/commands.ts";
import { addresses } from "../../../dev/demo/settings.ts";
import { bin, rootDir, testDir, testPortBase } from "../../../dev/files/paths.ts";
import { endRecorded, readRecord } from "../../../dev/processes/records.ts";
import { stopStack } from "../../../dev/servers/stack.ts";
import { type TestServers, testServers } from "../../support/servers/servers.ts";

const run = promisify(execFile);

// As a user with servers of his own runs it; the Kubernetes API is its own, for the samples' names are not.
describe("make demo", () => {
  let servers: TestServers;
  let dir: string;
  const portBase = testPortBase() + 25; // the upper half of the suite's ports

  const demo = async (): Promise<{ code: unknown; output: string; lastLine: string }> => {
    const env = {
      ...process.env,
      MONGODB_URL: servers.mongodbUrl,
      NATS_URL: servers.natsUrl,
      REDIS_URL: servers.redisUrl,
      S3_URL: servers.s3Url,
      KUBECONFIG: "",
      PORT_BASE: String(portBase),
    };
    const child = spawn(process.execPath, ["dev/demo.ts", dir], { cwd: rootDir, env });
    const ended = new Promise((done) => child.once("close", done));
    const [out, complaints, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { code, output: out + complaints, lastLine: out.trimEnd().split("\n").at(-1) ?? "" };
  };
  const pidOf = (name: string) => readRecord(dir, name)?.pid;

  before(async () => {
    servers = await testServers();
    await mkdir(testDir, { recursive: true });
    dir = await mkdtemp(join(testDir, "demo-"));
  });

  after(async () => {
    await stopStack(dir);
    await forget(servers);
    await rm(dir, { recursive: true, force: true });
  });

  it("delivers one message on each channel and shows every side of it", async () => {
    const { code, output, lastLine } = await demo();
    expect(code, output).to.equal(0);
    expect(lastLine, "where a person registers their browser").to.equal(`${addresses(portBase).shop}/`);
    expect(await (await fetch(lastLine)).text()).to.contain("<herald-inbox>");
    for (const channel of ["ios_push", "android_push", "hms_push", "web_push", "email", "sms", "whatsapp", "rcs"]) {
      const line = new RegExp(
        `^${channel} .* ✓ “Order \\w+ is on its way” .*✓ (?:sent|delivered) .*✓ delivery.sent .*✓ verified`,
        "m",
      );
      expect(output).to.match(line);
    }
    expect(output).to.match(/^Bot: +Which colour\? \(read\)$/m);
    expect(output).to.match(/^Ada: +Ada here: it does, and is on its way\. \(read\)$/m);
    expect(output).to.match(/^5 rows: 3 users made, 0 updated, 3 subscriptions made, 1 skipped, 1 faulty$/m);
    expect(output).to.match(/^\uFEFF?id,user_id,external_id,channel,status,token_masked,/m);
    expect(output).to.match(/^sub_\w+,usr_\w+,\w+,\w+,subscribed,/m);
  });

  it("prints commands that work as they stand", async () => {
    const typed = commands(addresses(portBase), join(dir, "kubeconfig")).map(({ command }) => command);
    const { stdout } = await run("bash", ["-ec", typed.join("\n")], { cwd: rootDir, maxBuffer: 2 ** 24 });
    expect(stdout).to.match(/"id":"msg_\w+","status":"queued","recipients_estimate":1/);
    expect(stdout).to.match(/"id":"imp_\w+","app_id":"app_\w+","type":"thirdparty_players"/);
    expect(stdout).to.match(/apikey.herald.dev\/shop-backend +True/);
    expect(stdout).to.include('"openapi":"3.1');
  });

  it("runs the blocks of docs/start.md, which verify a webhook at their end", async () => {
    const at = addresses(portBase);
    const page = await readFile(join(rootDir, "docs/start.md"), "utf8");
    const blocks = Array.from(page.matchAll(/^```sh\n(.*?)^```/gms), ([, block = ""]) => block);
    expect(blocks).to.have.length(7);
    const env = { ...process.env, ...(await connection()), HOOK: `${at.receiver}/start` };
    const { stdout } = await run("bash", ["-ec", [...blocks, verifyReceived(at.receiver)].join("\n")], { env });
    expect(stdout).to.match(/"external_id":"customer-4711"/);
    expect(stdout.trimEnd().split("\n").at(-1)).to.equal("verified");
  });

  /** What an app gets in its Secret, as the page calls it. */
  const connection = async (): Promise<Record<string, string>> => {
    const words = [
      "--kubeconfig",
      join(dir, "kubeconfig"),
      "-n",
      "herald-demo",
      "get",
      "secret",
      "shop-backend",
      "-o",
      "json",
    ];
    const { stdout } = await run(bin("kubectl"), words);
    const { data } = JSON.parse(stdout) as { data: Record<string, string> };
    const value = (name: string): string => Buffer.from(data[name] ?? "", "base64").toString();
    return { BASE: value("base_url"), KEY: value("token"), APP: value("app_id") };
  };

  /** Takes the first request that the receiver got at /start, and has the page's function verify it. */
  const verifyReceived = (receiver: string): string => `
    until got=$(curl -sS ${receiver}/received | jq -ec 'map(select(.path == "/start"))[0] // empty'); do sleep 0.1; done
    header() { jq -r --arg name "$1" '.headers[$name]' <<<"$got"; }
    webhook_id=$(header webhook-id) webhook_timestamp=$(header webhook-timestamp) webhook_signature=$(header webhook-signature)
    body=$(jq -r .body <<<"$got")
    verify`;

  it("runs again over what is there, leaves what runs alone and starts what is missing", async () => {
    const before = { simulators: pidOf("simulators"), dispatcher: pidOf("dispatcher") };
    expect(await endRecorded(dir, "dispatcher")).to.equal(true);
    const { code, output } = await demo();
    expect(code, output).to.equal(0);
    expect(pidOf("simulators")).to.be.a("number").and.equal(before.simulators);
    expect(pidOf("dispatcher")).to.be.a("number").and.not.equal(before.dispatcher);
  });

  it("fails and names what is missing when a provider does not take its message", async () => {
    const script = { channel: "email", script: { answers: [{ status: 550, reason: "5.1.1 no such user" }] } };
    await fetch(`${addresses(portBase).control}/script`, { method: "POST", body: JSON.stringify(script) });
    const { code, output } = await demo();
    expect(code).to.equal(1);
    expect(output).to.match(/^herald: email: the provider received nothing$/m);
    expect(output).to.not.match(/^herald: ios_push/m);
  });
});

/** Removes what the demo's installation left on the shared servers. */
const forget = async ({ mongodbUrl, natsUrl }: TestServers): Promise<void> => {
  const client = await MongoClient.connect(mongodbUrl);
  const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
  for (const { name } of databases) if (name.startsWith("herald_demo_")) await client.db(name).dropDatabase();
  await client.close();
  const nats = await connectNats({ url: natsUrl, name: "demo-test" });
  for await (const { config } of nats.jsm.streams.list()) {
    if (config.name.startsWith("herald_demo_")) await nats.jsm.streams.delete(config.name);
  }
  await nats.close();
};
