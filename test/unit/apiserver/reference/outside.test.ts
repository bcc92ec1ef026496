import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { NotFound } from "#core/errors.ts";
import { eventKinds } from "#core/schema/events/envelope.ts";
import { document } from "../../../../apiserver/features.ts";
import type { OutsideReply, OutsideRequest } from "../../../../apiserver/http/outside.ts";
import { reference } from "../../../../apiserver/reference/outside.ts";

const answer = reference(() => document).bind({ settings: { publicUrl: "https://api.example.com/herald/" } });
const ask = (file: string, over: Partial<OutsideRequest> = {}) =>
  answer({
    method: "GET",
    parts: file.split("/"),
    target: `/docs/${file}`,
    header: () => null,
    ip: "127.0.0.1",
    body: async () => Buffer.alloc(0),
    signal: new AbortController().signal,
    ...over,
  });
const bytesOf = ({ body }: OutsideReply): Uint8Array =>
  body instanceof Uint8Array ? body : expect.fail("it is not sent as bytes");
const textOf = ({ body }: OutsideReply): string => (typeof body === "string" ? body : expect.fail("it is no text"));
const refusal = async (file: string, over: Partial<OutsideRequest> = {}) =>
  ask(file, over).then(
    () => null,
    (error: unknown) => error,
  );

describe("the pages of the API reference", () => {
  it("load nothing of another host, and no script that is not ours", async () => {
    const { headers, body } = await ask("");
    expect(headers["Content-Security-Policy"]).to.contain("default-src 'none'; script-src 'self';");
    const loaded = Array.from(String(body).matchAll(/(?:src|href)="([^"]*)"/g), ([, address]) => address);
    expect(loaded).to.deep.equal(["data:,", "../v1/openapi.json", "redoc.js", "start.js"]);
    for (const file of ["redoc.js", "start.js"]) {
      const reply = await ask(file);
      expect(reply.headers["Content-Type"]).to.equal("text/javascript; charset=utf-8");
      expect(textOf(reply).length).to.be.above(100);
    }
  });

  it("are sent zipped to who takes that", async () => {
    const plain = await ask("openapi.json");
    const zipped = await ask("openapi.json", { header: (name) => (name === "accept-encoding" ? "br, gzip" : null) });
    expect([plain.headers["Content-Encoding"], zipped.headers["Content-Encoding"]]).to.deep.equal([undefined, "gzip"]);
    expect(gunzipSync(bytesOf(zipped)).toString()).to.equal(textOf(plain));
    expect(zipped.headers["Vary"]).to.equal("Accept-Encoding");
  });

  it("show requests to the address that clients reach, every event and every error code", async () => {
    const shown = JSON.parse(textOf(await ask("openapi.json"))) as {
      servers: object[];
      tags: { name: string; description: string }[];
      webhooks: Record<string, unknown>;
    };
    expect(shown.servers).to.deep.equal([{ url: "https://api.example.com/herald/" }]);
    expect(Object.keys(shown.webhooks)).to.deep.equal(eventKinds);
    expect(shown.tags.find(({ name }) => name === "Errors")?.description).to.contain("| 504 | `HS_TIMEOUT` |");
    expect(JSON.stringify(shown)).to.contain("https://api.example.com/herald/v1/notifications'");
  });

  it("are nowhere else", async () => {
    for (const [file, over] of [
      ["other.js", {}],
      ["redoc.js/more", {}],
      ["constructor", {}],
      ["", { method: "POST" }],
    ] as const) {
      expect(await refusal(file, over)).to.be.instanceOf(NotFound);
    }
  });
});
