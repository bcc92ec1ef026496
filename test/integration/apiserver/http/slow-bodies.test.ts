import type { IncomingMessage, RequestListener } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { systemClock } from "#core/domain/clock.ts";
import { operations } from "../../../../apiserver/features.ts";
import { bodyMsOf } from "../../../../apiserver/http/middleware/routing.ts";
import type { Route } from "../../../../apiserver/http/route.ts";
import { httpServer } from "../../../../apiserver/http/server/server.ts";

/** Answers with the length of the body. A request that is refused before its body is there ends in an error here. */
const answer: RequestListener = (request, reply) =>
  void text(request).then(
    (body) => reply.end(`${body.length}`),
    () => reply.destroy(),
  );
const bodyMs = ({ url }: Pick<IncomingMessage, "url">): number => (url === "/file" ? 20_000 : 300);

describe("a body that comes slowly", () => {
  const server = httpServer({
    host: "127.0.0.1",
    port: 0,
    drainMs: 0,
    mostStreams: 0,
    bodyMs,
    handler: () => answer,
    clock: systemClock,
  });
  before(() => server.start(new AbortController().signal));
  after(() => server.stop(AbortSignal.timeout(1_000)));

  /** Sends the first half of a body at once and the second one after `secondHalf`, if there is one; gives what is answered. */
  const send = async (path: string, secondHalf?: Promise<void>): Promise<string> => {
    const socket = connect(server.port(), "127.0.0.1");
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 8\r\n\r\n`;
    socket.write(`${head}half`);
    void secondHalf?.then(() => socket.write("half"));
    return text(socket);
  };
  const late = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_000)); // well behind the shorter bound

  it("is answered 408 after the time that its request has", async () => {
    expect(await send("/other")).to.match(/^HTTP\/1.1 408 .*"HS_REQUEST_TIMEOUT"/s);
  });

  it("is taken where its request has more time", async () => {
    expect(await send("/file", late())).to.match(/^HTTP\/1.1 200 .*\r\n\r\n8$/s);
  });

  it("has ten minutes where it is the file of an import, and one minute anywhere else", () => {
    const of = bodyMsOf(operations as unknown as Route[]); // sound: it looks at nothing but method, path and form
    const imports = "/v1/apps/app_1/imports";
    expect(of({ method: "POST", url: `${imports}?a=b` })).to.equal(600_000);
    for (const [method, url] of [
      ["GET", imports],
      ["POST", `${imports}/imp_1/cancel`],
      ["POST", "/v1/notifications"],
      ["POST", "/"],
    ])
      expect(of({ method, url }), `${method} ${url}`).to.equal(60_000);
  });
});
