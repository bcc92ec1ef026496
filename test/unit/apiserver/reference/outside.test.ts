import { posix } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { NotFound } from "#core/errors.ts";
import { eventKinds } from "#core/schema/events/envelope.ts";
import { document, operations } from "../../../../apiserver/features.ts";
import type { OutsideReply, OutsideRequest } from "../../../../apiserver/http/outside.ts";
import { reference } from "../../../../apiserver/reference/outside.ts";
import { siteOf } from "../../../../apiserver/reference/site.ts";

const answer = reference(document).bind({ settings: { publicUrl: "https://api.example.com/herald/" } });
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
const page = async (file: string) => textOf(await ask(file));
const refusal = async (file: string, over: Partial<OutsideRequest> = {}) =>
  ask(file, over).then(
    () => null,
    (error: unknown) => error,
  );
const every = (html: string, expression: RegExp): string[] =>
  Array.from(html.matchAll(expression), ([, found = ""]) => found);

describe("the pages of the API reference", () => {
  it("load nothing of another host, and have neither scripts nor styles inside", async () => {
    const { headers } = await ask("");
    expect(headers["Content-Security-Policy"]).to.contain("default-src 'none'; script-src 'self'; style-src 'self'");
    for (const file of ["", "operations/createNotification", "errors", "schemas/Message"]) {
      const html = await page(file);
      expect(every(html, /<script(?! src="(?:\.\.\/)?script\.js"><\/script>)([^>]*)/g)).to.deep.equal([]);
      expect(html).to.not.match(/<style|\sstyle=|\son[a-z]+=|src="(https?:)?\/\//);
    }
  });

  it("lead to pages and members that are there, each id once, whatever is followed", async () => {
    const files = siteOf(document(), "https://api.example.com");
    const pages = new Map<string, string>();
    for (const [path, { type, make }] of files) if (type.startsWith("text/html")) pages.set(path, await make());
    const broken: string[] = [];
    const ids = new Map<string, Set<string>>();
    for (const [path, html] of pages) {
      const own = every(html, /\sid="([^"]*)"/g);
      ids.set(path, new Set(own));
      if (new Set(own).size < own.length) broken.push(`${path} has an id twice`);
    }
    for (const [path, html] of pages) {
      for (const address of every(html, /(?:href|src)="([^"]*)"/g)) {
        const [to = "", id] = address.split("#");
        const led = to === "" ? path : posix.join("/", posix.dirname(path), to).slice(1);
        const isThere = files.has(led) || to.startsWith("../v1/");
        if (!isThere || (id !== undefined && !ids.get(led)?.has(id))) broken.push(`${path}: ${address}`);
      }
    }
    expect(broken).to.deep.equal([]);
    expect(pages.size).to.be.above(150);
  });

  const access = { public: "Needs no key.", app: "with the id of their app", device: "with their secret" };

  it("show each operation by itself, sending a message first", async () => {
    const first = await page("");
    expect(first.indexOf("operations/createNotification")).to.be.below(first.indexOf("operations/listChannels"));
    const contents = every(first.slice(first.indexOf('<nav id="contents"')), /href="([^"]*)"/g);
    expect(contents.slice(0, 2)).to.deep.equal(["./", "operations/createNotification"]);
    for (const { id, method, path, summary, scopes } of operations) {
      const html = await page(`operations/${id}`);
      for (const said of [
        summary,
        `>${method}</span> <code>${path}</code>`,
        ">curl<",
        ">TypeScript<",
        "HS_VALIDATION_ERROR",
      ])
        expect(html, id).to.contain(said.replaceAll('"', "&quot;"));
      expect(html, id).to.contain(typeof scopes === "string" ? access[scopes] : "<code>admin</code>");
    }
  });

  it("show members with types, bounds and what is below, rules, replies, errors and rates", async () => {
    const html = await page("operations/createNotification");
    for (const said of [
      'id="body.target.include_aliases"',
      'id="body.whatsapp_template.header(0).text"',
      "60 to 2,419,200",
      "Unless <code>template_id</code> is given:",
      '<span class="required">required</span>',
      "must be a colour of 8 hexadecimal digits",
      "When <code>ios_badge_type</code> is <code>&quot;SetTo&quot;</code>: <code>ios_badge_count</code> is given.",
      'id="header.Idempotency-Key"',
      'id="reply.recipients_estimate"',
      '<a href="../errors#HS_QUOTA_EXCEEDED">',
      "<code>X-RateLimit-Remaining</code>",
    ])
      expect(html).to.contain(said);
  });

  it("are sent zipped to who takes that", async () => {
    const plain = await ask("openapi.json");
    const zipped = await ask("openapi.json", { header: (name) => (name === "accept-encoding" ? "br, gzip" : null) });
    expect([plain.headers["Content-Encoding"], zipped.headers["Content-Encoding"]]).to.deep.equal([undefined, "gzip"]);
    expect(gunzipSync(bytesOf(zipped)).toString()).to.equal(textOf(plain));
    expect(zipped.headers["Vary"]).to.equal("Accept-Encoding");
  });

  it("show requests to the address that clients reach, every event and every error code", async () => {
    const shown = JSON.parse(await page("openapi.json")) as { servers: object[]; webhooks: Record<string, unknown> };
    expect(shown.servers).to.deep.equal([{ url: "https://api.example.com/herald/" }]);
    expect(Object.keys(shown.webhooks)).to.deep.equal(eventKinds);
    for (const kind of eventKinds) expect(await page(`events/${kind}`)).to.contain(`<h1><code>${kind}</code></h1>`);
    expect(await page("errors")).to.contain('<li id="HS_TIMEOUT"><span class="status">504</span>');
    expect(await page("")).to.contain("https://api.example.com/herald/v1/notifications'");
  });

  it("are found by what they are about and by the members of their bodies", async () => {
    const entries = JSON.parse(await page("search.json")) as { to: string; words: string }[];
    const found = entries.filter(({ words }) => words.split(" ").includes("ios_badge_count")).map(({ to }) => to);
    expect(found).to.include("operations/createNotification").and.include("schemas/CreateNotification");
    expect(found).to.not.include("operations/listNotifications");
    const files = siteOf(document(), "https://api.example.com");
    for (const { to } of entries) expect(files.has(to.split("#")[0] ?? ""), to).to.equal(true);
  });

  it("are nowhere else", async () => {
    for (const [file, over] of [
      ["other.js", {}],
      ["script.js/more", {}],
      ["constructor", {}],
      ["operations", {}],
      ["operations/", {}],
      ["", { method: "POST" }],
    ] as const) {
      expect(await refusal(file, over)).to.be.instanceOf(NotFound);
    }
  });
});
