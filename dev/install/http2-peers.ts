import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findTool } from "../files/find-tool.ts";
import { bin, rootDir } from "../files/paths.ts";
import type { GoTools } from "./go-tools.ts";
import { command, say } from "./progress.ts";

// Servers of HTTP/2 that others wrote, for test/conformance/http2; Node's own is there.

/** golang.org/x/net */
export const http2Go: GoTools = {
  module: "http2-go",
  packages: { "http2-go": "." },
  ldflags: "-s -w",
  folder: "test/conformance/http2/go",
};

/** The APNs client that the bench sends beside. */
export const apns2Go: GoTools = {
  module: "apns2-peer",
  packages: { "apns2-peer": "." },
  ldflags: "-s -w",
  folder: "test/bench/peers/apns2",
};

type Peer = {
  /** The folder below .dev/bin. */
  name: string;
  /** What builds it; without these it is left out, and its tests say so. */
  needs: readonly string[];
  /** What it is made from: it is made again when this changes. */
  from: readonly string[];
  /** Run in the folder by `sh`, with the root folder as `$1`. */
  script: string;
};

/** The packages are unpacked, not installed: nothing of the machine changes. */
const nghttpd: Peer = {
  name: "nghttpd",
  needs: ["apt-get", "dpkg"],
  from: [],
  script: `
    apt-get -q update || true
    apt-get -q -o APT::Sandbox::User=root download nghttp2-server libnghttp2-14 libev4 libjemalloc2
    for package in *.deb; do dpkg --extract "$package" .; done
    rm -r -- *.deb usr/share`,
};

const netty: Peer = {
  name: "http2-netty",
  needs: ["mvn", "javac"],
  from: ["test/conformance/http2/netty/pom.xml", "test/conformance/http2/netty/Server.java"],
  script: `
    from="$1/test/conformance/http2/netty"
    if ! cmp -s "$from/pom.xml" pom.xml; then
      rm -rf lib maven pom.xml
      cp "$from/pom.xml" new.xml
      mvn -q -B -f new.xml -Dmaven.repo.local="$PWD/maven" dependency:copy-dependencies -DoutputDirectory="$PWD/lib"
      rm -r maven
      mv new.xml pom.xml
    fi
    javac -cp "lib/*" -d classes "$from/Server.java"`,
};

const peers: readonly Peer[] = [nghttpd, netty];

/** The servers that are not there yet, and can be made here. */
export const missingHttp2Peers = (): Peer[] =>
  peers.filter((peer) => !isMade(peer) && peer.needs.every((tool) => findTool(tool) !== null));

/** Gets one of them. The key is written last: what was cut short is made again. */
export const installHttp2Peer = async (peer: Peer): Promise<void> => {
  const folder = bin(peer.name);
  await rm(keyPath(peer), { force: true });
  await mkdir(folder, { recursive: true });
  await command(["sh", "-euc", peer.script, "sh", rootDir], { log: `install-${peer.name}`, cwd: folder });
  await writeFile(keyPath(peer), key(peer));
};

/** Says which conformance tests are going to be left out, and why. */
export const sayWhatIsLeftOut = (): void => {
  for (const { name, needs } of peers.filter((peer) => !isMade(peer)))
    say(`${name} is not there, as it needs ${needs.join(" and ")}: the HTTP/2 client is not tested against it`);
};

const keyPath = ({ name }: Peer): string => join(bin(name), ".key");

const isMade = (peer: Peer): boolean => existsSync(keyPath(peer)) && readFileSync(keyPath(peer), "utf8") === key(peer);

const key = ({ script, from }: Peer): string => {
  const hash = createHash("sha256").update(script);
  for (const file of from) hash.update(readFileSync(join(rootDir, file)));
  return hash.digest("hex");
};
