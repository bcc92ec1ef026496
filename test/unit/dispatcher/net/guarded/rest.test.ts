import { createSecureServer } from "node:http2";
import { createServer as createHttps } from "node:https";
import { expect } from "chai";
import { NotBegun } from "#core/domain/messages/outcome.ts";
import { selfSigned } from "../../../../../dev/simulators/kit/certificate.ts";
import { type RestTransports, restTransports } from "../../../../../dispatcher/net/guarded/rest.ts";
import type { TransportRequest } from "../../../../../dispatcher/net/transport.ts";
import { outgoing } from "../../../../support/servers/outgoing.ts";

const tls = selfSigned();
const answerVersion = (request: { httpVersion: string }, response: { end: (text: string) => unknown }): void =>
  void response.end(request.httpVersion);

const asked = (given: Partial<TransportRequest> = {}): TransportRequest => ({
  path: "/messages",
  headers: { "content-type": "text/plain" },
  body: "hello",
  timeoutMs: 5_000,
  signal: new AbortController().signal,
  ...given,
});

describe("a REST transport", () => {
  const { http, tcp, listen } = outgoing();
  let transports: RestTransports;
  const to = (port: number) => transports.open({ origin: `http://127.0.0.1:${port}` });

  beforeEach(() => {
    transports = restTransports();
  });
  afterEach(() => transports.close());

  it("gives the provider's answer with its headers", async () => {
    const port = await http((request, response) => {
      response.writeHead(201, { "retry-after": "3" });
      request.pipe(response);
    });
    const result = await to(port).request(asked());
    expect(result).to.deep.include({ kind: "answer", status: 201, body: "hello" });
    expect(result).to.have.nested.property("headers.retry-after", "3");
  });

  it("says that nothing was sent when nobody listens", async () => {
    expect(await to(1).request(asked())).to.include({ kind: "not_sent" });
  });

  it("calls it broken when the link breaks after the request", async () => {
    const port = await tcp((socket) => socket.once("data", () => socket.destroy()));
    expect(await to(port).request(asked())).to.include({ kind: "broken" });
  });

  it("does not send again over a kept connection that closes with the request", async () => {
    let requests = 0;
    const port = await http((request, response) => {
      if (++requests > 1) request.socket.destroy();
      else response.end();
    });
    const transport = to(port);
    await transport.request(asked());
    expect(await transport.request(asked())).to.include({ kind: "broken" });
    expect(requests).to.equal(2);
  });

  for (const [it_, given] of [
    ["is over", { isOver: () => true }],
    ["is cut off", { signal: AbortSignal.abort() }],
  ] as const) {
    it(`hands over nothing when the work ${it_}`, async () => {
      let requests = 0;
      const port = await http((_, response) => {
        requests++;
        response.end();
      });
      const error = await to(port)
        .request(asked(given))
        .catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(NotBegun);
      expect(requests).to.equal(0);
    });
  }

  it("finishes what is under way before it closes", async () => {
    const port = await http((_, response) => void setTimeout(() => response.end("late"), 50));
    const transport = to(port);
    const underWay = transport.request(asked());
    await transport.close();
    expect(await underWay).to.include({ kind: "answer", body: "late" });
  });

  for (const { it: which, server, said } of [
    { it: "HTTP/2 where the provider speaks it", server: createSecureServer(tls, answerVersion), said: "2.0" },
    { it: "HTTP/1.1 where it does not", server: createHttps(tls, answerVersion), said: "1.1" },
  ])
    it(`may go over ${which}`, async () => {
      const secure = restTransports({ ca: tls.cert });
      const transport = secure.openHttp2({ origin: `https://127.0.0.1:${await listen(server)}` });
      expect(await transport.request(asked())).to.include({ kind: "answer", body: said });
      secure.close();
    });
});
