import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { rootDir } from "../../../../dev/files/paths.ts";
import { imageConfig } from "../../../../dev/release/image.ts";
import { packLayer } from "../../../../dev/release/layers.ts";
import { writeLayout } from "../../../../dev/release/oci-layout.ts";
import { parseRegistry } from "../../../../dev/release/publish.ts";

describe("a release", () => {
  let dir: string;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "release-"));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  const layoutOf = async (name: string, files: Record<string, string>) => {
    const root = join(dir, name, "root");
    await mkdir(root, { recursive: true });
    for (const [file, text] of Object.entries(files)) await writeFile(join(root, file), text);
    await utimes(join(root, Object.keys(files)[0]!), 1, 1_000_000 + name.length);
    const layer = await packLayer(root, join(dir, name, "blobs/sha256"), 1_764_000_000);
    const images = [{ architecture: "amd64", layers: [layer] }] as const;
    const digest = await writeLayout(join(dir, name), { images, config: imageConfig("1.2.3", "abc"), created: "then" });
    return { digest, layer };
  };

  it("has the same digest for the same content, in whatever order and whenever it was written", async () => {
    const first = await layoutOf("first", { a: "1", b: "2" });
    expect(await layoutOf("second one", { b: "2", a: "1" })).to.deep.equal(first);
    expect((await layoutOf("third", { a: "1", b: "3" })).digest).to.not.equal(first.digest);
  });

  it("keeps each blob under the digest of its bytes, and leads from the index to all of them", async () => {
    const { digest, layer } = await layoutOf("blobs", { a: "1" });
    const blob = async (of: string): Promise<Buffer> => {
      const bytes = await readFile(join(dir, "blobs/blobs", of.replace(":", "/")));
      expect(`sha256:${createHash("sha256").update(bytes).digest("hex")}`).to.equal(of);
      return bytes;
    };
    const index = JSON.parse((await blob(digest)).toString());
    const manifest = JSON.parse((await blob(index.manifests[0].digest)).toString());
    const config = JSON.parse((await blob(manifest.config.digest)).toString());
    expect(config.rootfs.diff_ids).to.deep.equal([layer.diffId]);
    expect((await blob(manifest.layers[0].digest)).length).to.equal(layer.size);
  });

  it("is started as the Dockerfile's image is", async () => {
    const lines = (await readFile(join(rootDir, "Dockerfile"), "utf8")).split("\n");
    const said = (word: string) => lines.findLast((line) => line.startsWith(`${word} `))?.slice(word.length + 1);
    const { User, WorkingDir, Entrypoint, Cmd, ExposedPorts, StopSignal, Env, Labels } = imageConfig("1.2.3", "abc");
    expect(said("USER")).to.equal(User);
    expect(said("WORKDIR")).to.equal(WorkingDir);
    expect(JSON.parse(said("ENTRYPOINT")!)).to.deep.equal(Entrypoint);
    expect(JSON.parse(said("CMD")!)).to.deep.equal(Cmd);
    expect(
      said("EXPOSE")
        ?.split(" ")
        .map((port) => `${port}/tcp`),
    ).to.have.members(Object.keys(ExposedPorts));
    expect(said("STOPSIGNAL")).to.equal(StopSignal);
    const variables = lines.flatMap((line) => /^ENV (.*)$/.exec(line)?.[1] ?? []);
    expect(Env).to.have.members(["PATH=/usr/bin", ...variables]);
    for (const [, name = "", value] of lines.join("\n").matchAll(/(org\.opencontainers\.[a-z.]+)="([^"]+)"/g))
      expect(Labels[name]).to.equal(value);
  });

  for (const [text, host, path] of [
    ["registry.example/platform", "registry.example", "platform"],
    ["127.0.0.1:5000/a/b-c", "127.0.0.1:5000", "a/b-c"],
    ["[::1]:5000/a", "[::1]:5000", "a"],
  ] as const)
    it(`goes to ${text}`, () => expect(parseRegistry(text)).to.deep.equal({ host, path }));

  for (const text of [
    "",
    "registry.example",
    "https://registry.example/a",
    "registry.example/A",
    "re gistry/a",
    "a/b/",
  ])
    it(`refuses the registry "${text}"`, () => expect(() => parseRegistry(text)).to.throw("REGISTRY is"));
});
