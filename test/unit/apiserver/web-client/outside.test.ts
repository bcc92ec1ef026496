import { hash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import { NotFound } from "#core/errors.ts";
import type { OutsideReply } from "../../../../apiserver/http/outside.ts";
import built from "../../../../apiserver/web-client/built.json" with { type: "json" };
import { type Manifest, webClient } from "../../../../apiserver/web-client/outside.ts";

const answer = webClient.bind({});
const get = (path: string, { method = "GET", encoding = "" } = {}): Promise<OutsideReply> =>
  answer({
    method,
    parts: path.replace("/sdk/web/", "").split("/"),
    target: path,
    header: (name) => (name === "accept-encoding" ? encoding : null),
    ip: "192.0.2.1",
    body: async () => Buffer.alloc(0),
    signal: AbortSignal.timeout(1_000),
  });
const manifest = async () => JSON.parse(String((await get("manifest.json")).body)) as Manifest;

/** What a file may have, zipped, in bytes. */
const most: Readonly<Record<keyof typeof built, number>> = {
  "herald.mjs": 6_144,
  "herald.js": 6_144,
  "herald-inbox.mjs": 6_144,
  "herald-inbox.js": 6_144,
  "herald-in-app.mjs": 6_144,
  "herald-in-app.js": 6_144,
  "herald-worker.js": 2_048,
  "worker.mjs": 2_048,
};

describe("the client for browsers, as it is served", () => {
  it("has files under names that change with them, for any site, for ever, and as a browser compares them", async () => {
    const { files } = await manifest();
    expect(Object.keys(files)).to.deep.equal(Object.keys(built));
    for (const [name, { path, integrity, bytes }] of Object.entries(files)) {
      const { status, headers, body } = await get(path);
      expect([status, headers["Content-Type"]]).to.deep.equal([200, "text/javascript; charset=utf-8"]);
      expect(headers).to.include({ "Cache-Control": "public, max-age=31536000, immutable" });
      expect(headers).to.include({ "Access-Control-Allow-Origin": "*" });
      expect(path, name).to.contain(hash("sha256", String(body), "hex").slice(0, 16));
      expect(integrity).to.equal(`sha384-${hash("sha384", String(body), "base64")}`);
      expect(Buffer.byteLength(String(body))).to.equal(bytes);
    }
  });

  it("is zipped for who takes that", async () => {
    const { path } = (await manifest()).files["herald-worker.js"] ?? { path: "" };
    const { headers, body } = await get(path, { encoding: "br, gzip" });
    expect(headers).to.include({ "Content-Encoding": "gzip", Vary: "Accept-Encoding" });
    expect(gunzipSync(body).toString()).to.equal(built["herald-worker.js"]);
  });

  for (const [name, bytes] of Object.entries(most))
    it(`has at most ${bytes} bytes of ${name}, zipped`, () => {
      expect(gzipSync(built[name as keyof typeof built]).length).to.be.below(bytes);
    });

  it("has at most 12 kB of what an inbox needs, zipped", () => {
    const sizes = [built["herald.js"], built["herald-inbox.js"]].map((text) => gzipSync(text).length);
    expect(sizes.reduce((all, size) => all + size)).to.be.below(12_288);
  });

  for (const { it: what, path, method } of [
    { it: "another name", path: "herald-worker.js" },
    { it: "another hash", path: "herald-worker.0000000000000000.js" },
    { it: "a longer path", path: "manifest.json/more" },
    { it: "another method", path: "manifest.json", method: "POST" },
  ])
    it(`does not exist under ${what}`, async () => {
      const given = method === undefined ? {} : { method };
      expect(await get(path, given).catch((error: unknown) => error)).to.be.instanceOf(NotFound);
    });
});
