import { once } from "node:events";
import { createServer } from "node:http2";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { expect } from "chai";
import { frameHeaderLength } from "../../../../../dispatcher/net/http2/frames.ts";
import { http2Pool } from "../../../../../dispatcher/net/http2/pool.ts";

const never = new AbortController().signal;
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

describe("the HTTP/2 client against a peer that keeps a table for headers although it was asked not to", () => {
  it("reads every answer, with what it refers to", async () => {
    const server = createServer();
    let answered = 0;
    server.on("stream", (stream) => {
      stream.respond({ ":status": 200, "apns-id": `id ${answered++ % 300}`, "x-same": "always" });
      stream.end();
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const deafened = createTcpServer((socket) => {
      const upstream = connect(port, "127.0.0.1");
      socket.once("data", (chunk) => {
        chunk.writeUInt32BE(4096, preface.length + frameHeaderLength + 2); // our first setting
        upstream.write(chunk);
        socket.pipe(upstream).pipe(socket);
      });
      socket.on("error", () => upstream.destroy());
    });
    await once(deafened.listen(0, "127.0.0.1"), "listening");
    const pool = http2Pool({ origin: `http://127.0.0.1:${(deafened.address() as AddressInfo).port}` });
    const ask = () => pool.request({ path: "/", headers: {}, body: "x", timeoutMs: 8000, signal: never });
    const answers = await Promise.all(Array.from({ length: 1000 }, ask));
    expect(new Set(answers.map(({ kind }) => kind))).to.deep.equal(new Set(["answer"]));
    const ids = answers.map((answer) => (answer.kind === "answer" ? answer.headers["apns-id"] : undefined));
    expect(new Set(ids).size).to.equal(300);
    expect(pool.stats().opened).to.equal(1);
    await pool.close();
    deafened.close();
    server.close();
  });
});
