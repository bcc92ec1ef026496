import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { document, operations } from "../../../../apiserver/features.ts";
import { referenceOf } from "../../../../apiserver/reference/document.ts";
import type { Sample } from "../../../../apiserver/reference/samples.ts";
import { rootDir, testDir } from "../../../../dev/files/paths.ts";

const run = promisify(execFile);
const token = "the-key";

/** A part with a text, then one with the file. */
const formShape =
  /^--\S+\r\nContent-Disposition: form-data; name="type"\r\n\r\ncsv_users\r\n--[^]*filename="people.csv"[^]*external_id\r\nanna/;

const bodyOf = (text: string): unknown => {
  if (text === "" || text.startsWith("--")) return text || null;
  return JSON.parse(text);
};

type Seen = Record<"method" | "path" | "key" | "app" | "secret" | "repeat" | "type", string> & { body: unknown };
type Shown = { operationId: string; security?: unknown[]; "x-codeSamples": Sample[] };

/** What those who call send to prove it: an API key, the id of an app, the secret of a device. */
const proofsOf = {
  key: [`Bearer ${token}`, "", ""],
  public: ["", "", ""],
  app: ["", "app_1", ""],
  device: ["", "app_1", "sst_1"],
};

describe("the examples of the API reference", () => {
  let server: Server;
  let dir: string;
  let shown: { path: string; method: string; operation: Shown }[];
  let seen: Seen[];

  before(async () => {
    dir = await mkdtemp(join(testDir, "samples-"));
    await writeFile(join(dir, "people.csv"), "external_id\r\nanna\r\n");
    server = createServer((request, response) => {
      void note(request).then((one) => {
        seen.push(one);
        return response.setHeader("Content-Type", "application/json").end("{}");
      });
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo; // sound: it listens on TCP
    const reference = referenceOf(document(), `http://127.0.0.1:${port}`) as {
      paths: Record<string, Record<string, Shown>>;
    };
    shown = Object.entries(reference.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
    );
  });
  beforeEach(() => {
    seen = [];
  });
  after(async () => {
    server?.close();
    await rm(dir, { recursive: true, force: true });
  });

  const note = async (request: IncomingMessage): Promise<Seen> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array); // a socket gives bytes
    const text = Buffer.concat(chunks).toString();
    return {
      method: request.method ?? "",
      path: request.url ?? "",
      key: request.headers.authorization ?? "",
      app: request.headers["x-hs-app-id"]?.toString() ?? "",
      secret: request.headers["x-hs-subscription-token"]?.toString() ?? "",
      repeat: request.headers["idempotency-key"]?.toString() ?? "",
      type: request.headers["content-type"] ?? "",
      body: bodyOf(text),
    };
  };

  /** How all examples of a language are run at once; each says its number in the end, whatever it answers. */
  const programs: Record<string, (sources: readonly string[]) => Promise<[command: string, args: string[]]>> = {
    curl: async (sources) => {
      const file = join(dir, "all.sh");
      await writeFile(file, `set -euo pipefail\n${sources.join("\n")}\n`);
      return ["bash", [file]];
    },
    TypeScript: async (sources) => {
      const file = join(dir, "all.mts");
      await writeFile(file, sources.map((source) => `{\n${source}\n}`).join("\n"));
      return [join(rootDir, "node_modules/.bin/node"), [file]];
    },
  };

  for (const [label, program] of Object.entries(programs)) {
    it(`make the request that they are about, in ${label}`, async () => {
      const sources = shown.map(({ operation }) => {
        const sample = operation["x-codeSamples"].find((one) => one.label === label);
        return sample?.source ?? expect.fail(`${operation.operationId} has none`);
      });
      const [command, args] = await program(sources);
      const proofs = { HERALD_TOKEN: token, HERALD_APP_ID: "app_1", HERALD_SUBSCRIPTION_TOKEN: "sst_1" };
      await run(command, args, { cwd: dir, env: { ...process.env, ...proofs }, maxBuffer: 10_000_000 });
      expect(seen.map(({ method }) => method)).to.deep.equal(shown.map(({ method }) => method));
      for (const [n, { path, operation }] of shown.entries()) {
        const one = seen[n] ?? expect.fail("it asked nothing");
        const declared = operations.find(({ id }) => id === operation.operationId);
        const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/?]+").replaceAll(".", "\\.")}(\\?|$)`);
        expect(one.path).to.match(pattern);
        const kind = typeof declared?.scopes === "string" ? declared.scopes : "key";
        expect([one.key, one.app, one.secret]).to.deep.equal(proofsOf[kind]);
        expect(one.repeat !== "").to.equal(declared?.headers?.["Idempotency-Key"] !== undefined);
        if (declared?.form !== undefined) expect(one.body, operation.operationId).to.match(formShape);
        else if (declared?.body === undefined) expect(one.body).to.equal(null);
        else expect(one.body, operation.operationId).to.be.an("object");
      }
    });
  }

  it("send the same in every language", () => {
    for (const { operation } of shown) {
      expect(operation["x-codeSamples"].map(({ label }) => label)).to.deep.equal(Object.keys(programs));
    }
  });
});
