import { hash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { maxMediaBytes } from "#core/domain/conversations/media.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import type { MediaAccess } from "../../../../dispatcher/conversations/media/access.ts";
import { fetchMedia } from "../../../../dispatcher/conversations/media/fetch.ts";
import { guardedClient } from "../../../../dispatcher/net/guarded/client.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

describe("a file of a message", () => {
  const client = guardedClient({ guard: addressGuard({ allow: ["127.0.0.1/32"] }) });
  const seen: { path: string; authorization: string | undefined }[] = [];
  const picture = Buffer.from("a picture");
  const jpeg = { "content-type": "image/jpeg; charset=binary" };
  const answers: Record<string, Answer> = {
    "/v25.0/7": (_, response) => response.end(JSON.stringify({ url: `${origin}/file`, mime_type: "image/jpeg" })),
    "/file": (_, response) => response.writeHead(200, jpeg).end(picture),
    "/elsewhere": (_, response) => response.writeHead(307, { location: `${other}/file` }).end(),
    "/circle": (_, response) => response.writeHead(302, { location: "/circle" }).end(),
    "/inside": (_, response) => response.writeHead(302, { location: "http://10.0.0.1/file" }).end(),
    "/page": (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<script>"),
    "/nameless": (_, response) => response.writeHead(200, { "content-type": "application/octet-stream" }).end(picture),
    "/large": (_, response) => {
      response.writeHead(200, jpeg);
      const piece = Buffer.alloc(1_048_576);
      const more = (): void => {
        while (!response.destroyed && response.write(piece)); // without an end
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    },
    "/silent": () => undefined,
    "/full": (_, response) => response.writeHead(200, jpeg).end(Buffer.alloc(maxMediaBytes)),
    "/busy": (_, response) => response.writeHead(503).end(),
  };
  const serve: Answer = (request, response) => {
    const { pathname: path } = new URL(request.url ?? "", "http://x");
    seen.push({ path, authorization: request.headers.authorization });
    (answers[path] ?? ((_, gone) => gone.writeHead(404).end()))(request, response);
  };
  const servers = [createServer(serve), createServer(serve)];
  let [origin, other] = ["", ""];
  before(async () => {
    const listening = servers.map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // sound: of a TCP server
    });
    [origin = "", other = ""] = await Promise.all(listening);
  });
  after(() => {
    client.close();
    for (const server of servers) server.close().closeAllConnections();
  });
  beforeEach(() => seen.splice(0));

  const access: MediaAccess = {
    poolKey: "app_1",
    lookUp: (id) => new URL(`${origin}/v25.0/${id}`),
    headersFor: (url): Record<string, string> => (url.origin === origin ? { authorization: "Bearer t" } : {}),
  };
  const fetched = (source: { url?: string; id?: string; mimeType?: string }, signal = new AbortController().signal) =>
    fetchMedia(client)({ url: null, id: null, mimeType: null, ...source }, access, signal);
  const at = (path: string, mimeType?: string) =>
    fetched({ url: `${origin}${path}`, ...(mimeType === undefined ? {} : { mimeType }) });

  it("is found by its id, with the account's credentials both times", async () => {
    expect(await fetched({ id: "7" })).to.deep.equal({
      kind: "fetched",
      body: picture,
      mimeType: "image/jpeg",
      sha256: hash("sha256", picture),
    });
    expect(seen).to.deep.equal([
      { path: "/v25.0/7", authorization: "Bearer t" },
      { path: "/file", authorization: "Bearer t" },
    ]);
  });

  it("may be elsewhere, where the credentials do not go", async () => {
    expect(await at("/elsewhere")).to.include({ kind: "fetched" });
    expect(seen.at(-1)).to.deep.equal({ path: "/file", authorization: undefined });
  });

  it("has the type that the message said where its server says none", async () => {
    expect(await at("/nameless", "audio/ogg; codecs=opus")).to.include({ kind: "fetched", mimeType: "audio/ogg" });
  });

  it("is taken up to its bound and no further, however long it goes on", async () => {
    expect(await at("/full")).to.include({ kind: "fetched" });
    expect(await at("/large")).to.deep.equal({ kind: "failed", problem: "too_large" });
  });

  const failures: { it: string; source: () => Parameters<typeof fetched>[0]; becomes: object }[] = [
    { it: "is gone", source: () => ({ url: `${origin}/gone` }), becomes: { kind: "failed", problem: "not_found" } },
    { it: "has an unknown id", source: () => ({ id: "8" }), becomes: { kind: "failed", problem: "not_found" } },
    {
      it: "is a page",
      source: () => ({ url: `${origin}/page` }),
      becomes: { kind: "failed", problem: "type_not_allowed" },
    },
    {
      it: "leads inside",
      source: () => ({ url: `${origin}/inside` }),
      becomes: { kind: "failed", problem: "address_refused" },
    },
    {
      it: "is at a private address",
      source: () => ({ url: "http://169.254.169.254/latest/meta-data" }),
      becomes: { kind: "failed", problem: "address_refused" },
    },
    {
      it: "is at no address",
      source: () => ({ url: "over there" }),
      becomes: { kind: "failed", problem: "address_refused" },
    },
    {
      it: "leads in a circle",
      source: () => ({ url: `${origin}/circle` }),
      becomes: { kind: "failed", problem: "address_refused" },
    },
    {
      it: "is not there now",
      source: () => ({ url: `${origin}/busy` }),
      becomes: { kind: "later", problem: "unavailable" },
    },
  ];
  for (const { it: what, source, becomes } of failures)
    it(`is not kept when it ${what}`, async () => {
      expect(await fetched(source())).to.deep.equal(becomes);
    });

  it("is not waited for without an end", async () => {
    const ending = new AbortController();
    const fetching = fetched({ url: `${origin}/silent` }, ending.signal);
    ending.abort();
    expect(await fetching).to.deep.equal({ kind: "later", problem: "unavailable" });
  });
});
