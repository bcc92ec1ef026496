import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { bin, testDir } from "../../../dev/files/paths.ts";
import { freePorts } from "../../../dev/processes/free-ports.ts";
import { selfSigned } from "../../../dev/simulators/kit/certificate.ts";
import { until } from "../../support/until.ts";

/** Streams at once, and bytes of the table for our headers. */
export type PeerSettings = { streams: number; tableBytes: number };

/** A server that nobody here wrote. Every one answers a POST to any path with its body. */
export type ConformancePeer = {
  name: string;
  isThere: () => boolean;
  start: (settings: PeerSettings) => Promise<{ origin: string; ca?: string; stop: () => Promise<void> }>;
  /** Paths that it answers in its own way, beside those that say what was asked. */
  paths: readonly ("/echo" | "/hints" | "/reset" | "/refuse" | "/goaway")[];
};

const tls = selfSigned();

const node: ConformancePeer = {
  name: "Node's http2",
  isThere: () => true,
  paths: ["/echo", "/hints", "/reset", "/refuse", "/goaway"],
  start: async ({ streams, tableBytes }) => {
    const server = createServer({ settings: { maxConcurrentStreams: streams, headerTableSize: tableBytes } });
    const sessions = new Set<{ destroy: () => void }>();
    server.on("session", (session) => sessions.add(session));
    server.on("stream", (stream, headers) => {
      const parts: Buffer[] = [];
      stream.on("error", () => {}).on("data", (part: Buffer) => parts.push(part));
      stream.on("end", () => answer(stream, headers, Buffer.concat(parts)));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    return {
      origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // a TCP server's address is never a string
      stop: async () => {
        for (const session of sessions) session.destroy();
        await new Promise((done) => void server.close(done));
      },
    };
  },
};

const answer = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, body: Buffer): void => {
  const { ":method": method = "", ":authority": authority = "", ":path": path = "", "x-sent": sent = "" } = headers;
  if (path === "/reset") return stream.close(2);
  if (path === "/refuse") return stream.close(7);
  if (path === "/goaway") stream.session?.close(); // GOAWAY, and nothing new
  if (path === "/hints") stream.additionalHeaders({ ":status": 103, link: "</a>" });
  const said = { ":status": 200, "x-asked": `${method} ${authority} ${path}`, "x-sent": sent };
  stream.respond(said, { waitForTrailers: path === "/hints" });
  stream.on("wantTrailers", () => stream.sendTrailers({ "x-after": "1" })).end(body);
};

const go: ConformancePeer = {
  name: "Go's x/net",
  isThere: () => existsSync(bin("http2-go")),
  paths: ["/echo", "/hints", "/reset", "/goaway"],
  start: async ({ streams, tableBytes }) => {
    const files = await certificateFiles();
    const options = ["-cert", files.cert, "-key", files.key, "-streams", `${streams}`, "-table", `${tableBytes}`];
    const child = run([bin("http2-go"), ...options]);
    return { origin: `https://127.0.0.1:${await portOf(child)}`, ca: tls.cert, stop: () => end(child, files.dir) };
  },
};

const nghttpd: ConformancePeer = {
  name: "nghttpd",
  isThere: () => existsSync(nghttpdFile("usr/sbin/nghttpd")),
  paths: [],
  start: async ({ streams, tableBytes }) => {
    const files = await certificateFiles();
    const [port = 0] = await freePorts(1);
    const oddities = ["--echo-upload", "--padding=100", "--trailer=x-after: 1", "--encoder-header-table-size=4096"];
    const settings = [`--max-concurrent-streams=${streams}`, `--header-table-size=${tableBytes}`];
    const words = [nghttpdFile("usr/sbin/nghttpd"), "--address=127.0.0.1", ...oddities, ...settings];
    const child = run([...words, `${port}`, files.key, files.cert], {
      LD_LIBRARY_PATH: nghttpdFile("usr/lib/x86_64-linux-gnu"),
    });
    await until(() => isListening(port));
    return { origin: `https://127.0.0.1:${port}`, ca: tls.cert, stop: () => end(child, files.dir) };
  },
};

const netty: ConformancePeer = {
  name: "Netty",
  isThere: () => existsSync(join(bin("http2-netty"), "classes")),
  paths: ["/echo", "/hints", "/reset", "/refuse", "/goaway"],
  start: async ({ streams, tableBytes }) => {
    const classes = `${join(bin("http2-netty"), "lib")}/*:${join(bin("http2-netty"), "classes")}`;
    const child = run(["java", "-XX:TieredStopAtLevel=1", "-cp", classes, "Server", `${streams}`, `${tableBytes}`]);
    return { origin: `http://127.0.0.1:${await portOf(child)}`, stop: () => end(child) };
  },
};

export const peers: readonly ConformancePeer[] = [node, go, nghttpd, netty];

const nghttpdFile = (path: string): string => join(bin("nghttpd"), path);

/** Ends with us, whatever becomes of us. */
const run = (words: readonly string[], env: Record<string, string> = {}): ChildProcess =>
  spawn("setpriv", ["--pdeathsig", "KILL", "--", ...words], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });

/** The first line that it prints. */
const portOf = async ({ stdout }: ChildProcess): Promise<number> => {
  if (stdout === null) throw new Error("its output is piped");
  for await (const line of createInterface({ input: stdout })) return Number(line);
  throw new Error("the server ended before it listened");
};

const end = async (child: ChildProcess, dir?: string): Promise<void> => {
  const ended = child.exitCode === null ? once(child, "exit") : Promise.resolve();
  child.kill("SIGKILL");
  await ended;
  if (dir !== undefined) await rm(dir, { recursive: true });
};

const certificateFiles = async (): Promise<{ dir: string; cert: string; key: string }> => {
  await mkdir(testDir, { recursive: true });
  const dir = await mkdtemp(join(testDir, "http2-"));
  const [cert, key] = [join(dir, "cert.pem"), join(dir, "key.pem")];
  await writeFile(cert, tls.cert);
  await writeFile(key, tls.key, { mode: 0o600 });
  return { dir, cert, key };
};

const isListening = async (port: number): Promise<boolean> => {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false; // not yet
  } finally {
    socket.destroy();
  }
};
