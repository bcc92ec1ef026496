import type { ServerResponse } from "node:http";
import { createServer, type Socket } from "node:net";
import { expect } from "chai";
import { ask, outgoing } from "../../../../support/servers/outgoing.ts";
import { leastMs, until } from "../../../../support/until.ts";

const answer = (status: number): string => `HTTP/1.1 ${status} OK\r\ncontent-length: 0\r\n\r\n`;

describe("a guarded client's connections", () => {
  const { client, http, listen, tcp, connections } = outgoing();

  it("are never lent to another owner", async () => {
    const port = await http((_, response) => response.end());
    const one = client();
    for (const poolKey of ["whk_1", "whk_2", "whk_1"]) await ask(one, `http://127.0.0.1:${port}/`, { poolKey });
    expect(connections()).to.equal(2);
  });

  it("are at most so many of one owner, and the requests beyond wait for one of them", async () => {
    const open: ServerResponse[] = [];
    let most = 0;
    const port = await http((_, response) => {
      open.push(response);
      most = Math.max(most, open.length);
    });
    const one = client();
    const asked = Array.from({ length: 9 }, () =>
      ask(one, `http://127.0.0.1:${port}/`, { maxConnections: 3, timeoutMs: 5_000 }),
    );
    for (let answered = 0; answered < 9; answered++) {
      await until(() => open.length === Math.min(3, 9 - answered));
      open.shift()?.end();
    }
    expect((await Promise.all(asked)).map(({ kind }) => kind)).to.deep.equal(Array(9).fill("answered"));
    expect([most, connections()]).to.deep.equal([3, 3]);
  });

  it("are opened as they are needed: while one is opened, those who wait take it in turn", async () => {
    const port = await http((_, response) => response.end());
    const one = client();
    const ends = Array.from({ length: 100 }, () => ask(one, `http://127.0.0.1:${port}/`, { maxConnections: 100 }));
    expect((await Promise.all(ends)).map(({ kind }) => kind)).to.deep.equal(Array(100).fill("answered"));
    expect(connections()).to.be.below(50);
  });

  it("are opened until each request has one, when their receiver hangs", async () => {
    const open: ServerResponse[] = [];
    const port = await http((_, response) => void open.push(response));
    const one = client();
    const asked = Array.from({ length: 20 }, () =>
      ask(one, `http://127.0.0.1:${port}/`, { maxConnections: 20, timeoutMs: 15_000 }),
    );
    await until(() => open.length === 20);
    for (const response of open) response.end();
    expect((await Promise.all(asked)).map(({ kind }) => kind)).to.deep.equal(Array(20).fill("answered"));
  });

  it("that cannot be opened are tried a few times for all who wait", async () => {
    let tried = 0;
    const one = client({ resolve: async () => (tried++, ["127.0.0.1"]) });
    const asked = Array.from({ length: 20 }, () => ask(one, "http://localhost:1/", { maxConnections: 20 }));
    for (const end of await Promise.all(asked)) expect(end).to.include({ kind: "unreached", errorClass: "connect" });
    expect(tried).to.be.below(10); // one each 5 ms until the first has failed
  });

  it("serve all who wait when a further one is refused", async () => {
    const waiting: Socket[] = [];
    const server = createServer((socket) => void socket.on("data", () => waiting.push(socket)));
    const port = await listen(server);
    const one = client();
    const askOnce = () => ask(one, `http://127.0.0.1:${port}/`, { maxConnections: 5, timeoutMs: 20_000 });
    const first = askOnce();
    await until(() => waiting.length === 1);
    server.close(); // what stands stays, and nothing further is taken
    const others = Array.from({ length: 4 }, askOnce);
    let isOver = false;
    const all = Promise.all([first, ...others]).finally(() => (isOver = true));
    await until(() => (waiting.shift()?.write(answer(200)), isOver), 20_000);
    expect((await all).map(({ kind }) => kind)).to.deep.equal(Array(5).fill("answered"));
  });

  it("that are all taken keep a request waiting until its time is up, and it was not sent", async () => {
    let requests = 0;
    const port = await http(() => requests++);
    const one = client();
    const askFor = (timeoutMs: number) => ask(one, `http://127.0.0.1:${port}/`, { maxConnections: 1, timeoutMs });
    const first = askFor(9_000);
    await until(() => requests === 1);
    expect(await askFor(200)).to.deep.equal({
      kind: "unreached",
      reason: "earlier requests held every connection until the time was up",
      errorClass: "timeout",
    });
    expect(requests).to.equal(1);
    one.close();
    await first;
  });

  it("of an owner whose receiver hangs keep no other owner waiting", async () => {
    const hanging = await http(() => {});
    const port = await http((_, response) => response.end());
    const one = client({ maxIdle: 5 });
    const stop = new AbortController();
    const stuck = Array.from({ length: 50 }, (_, n) =>
      ask(one, `http://127.0.0.1:${hanging}/`, { poolKey: `whk_${n % 5}`, timeoutMs: 9_000 }, stop.signal),
    );
    await until(() => connections() === 50);
    expect((await ask(one, `http://127.0.0.1:${port}/`, { poolKey: "whk_9" })).kind).to.equal("answered");
    stop.abort();
    expect((await Promise.all(stuck)).map(({ kind }) => kind)).to.deep.equal(Array(50).fill("broken"));
  });

  it("are kept idle up to a bound of all owners, and those longest unused are closed", async () => {
    const open = new Map<string, Socket>();
    const port = await http(({ url = "", socket }, response) => {
      open.set(url, socket);
      response.end();
    });
    const one = client({ maxIdle: 3 });
    const visit = (name: string) => ask(one, `http://127.0.0.1:${port}/${name}`, { poolKey: name });
    const openNow = (): string[] => [...open].filter(([, socket]) => !socket.destroyed).map(([url]) => url);
    for (const name of ["a", "b", "c", "a", "d"]) await visit(name);
    await until(() => openNow().length === 3);
    expect(openNow()).to.have.members(["/a", "/c", "/d"]);
    await visit("a");
    expect(connections()).to.equal(4);
  });

  it("are closed before the time at which their server says that it does", async () => {
    let closed = false;
    const port = await tcp((socket) => {
      socket.once("close", () => {
        closed = true;
      });
      socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\nkeep-alive: timeout=2\r\ncontent-length: 0\r\n\r\n"));
    });
    const visit = async (): Promise<void> => {
      closed = false;
      await ask(client(), `http://127.0.0.1:${port}/`);
      await until(() => closed);
    };
    expect(await leastMs(visit, { times: 3 })).to.be.within(500, 1_900);
  });

  it("are closed when the client is", async () => {
    let open = 0;
    const port = await tcp((socket) => {
      open++;
      socket.once("close", () => open--).on("data", (data) => data.includes("idle") && socket.write(answer(200)));
    });
    const one = client();
    await ask(one, `http://127.0.0.1:${port}/`, { body: "idle" });
    const underWay = ask(one, `http://127.0.0.1:${port}/`, { poolKey: "whk_2", body: "hang" });
    await until(() => open === 2);
    one.close();
    expect(await underWay).to.include({ kind: "broken", errorClass: "reset" });
    await until(() => open === 0);
  });

  describe("when their server closes one as it is used again", () => {
    /** A server whose first connection answers once, and is then closed by the next request on it. */
    const closesOnSecond = async (instead: (socket: Socket) => void): Promise<{ port: number; bodies: string[] }> => {
      const bodies: string[] = [];
      let opened = 0;
      const port = await tcp((socket) => {
        let requests = 0;
        const isFirst = opened++ === 0;
        socket.on("data", (data) => {
          bodies.push(data.toString().split("\r\n\r\n")[1] ?? "");
          if (isFirst && requests++ > 0) instead(socket);
          else socket.write(answer(200));
        });
      });
      return { port, bodies };
    };

    it("make the request once more on a new one, if the receiver tells repetitions apart", async () => {
      const { port, bodies } = await closesOnSecond((socket) => socket.resetAndDestroy());
      const one = client();
      await ask(one, `http://127.0.0.1:${port}/`, { body: "first" });
      const reply = await ask(one, `http://127.0.0.1:${port}/`, { body: "second", mayRepeat: true });
      expect(reply).to.include({ kind: "answered", status: 200 });
      expect(bodies).to.deep.equal(["first", "second", "second"]);
    });

    it("do not make it again if it does not", async () => {
      const { port, bodies } = await closesOnSecond((socket) => socket.resetAndDestroy());
      const one = client();
      await ask(one, `http://127.0.0.1:${port}/`, { body: "first" });
      const reply = await ask(one, `http://127.0.0.1:${port}/`, { body: "second", mayRepeat: false });
      expect(reply).to.include({ kind: "broken", errorClass: "reset" });
      expect(bodies).to.deep.equal(["first", "second"]);
    });

    it("do not make it again once a byte of an answer came", async () => {
      const { port, bodies } = await closesOnSecond((socket) => socket.end("HTTP/1.1 2"));
      const one = client();
      await ask(one, `http://127.0.0.1:${port}/`, { body: "first" });
      const reply = await ask(one, `http://127.0.0.1:${port}/`, { body: "second", mayRepeat: true });
      expect(reply.kind).to.equal("broken");
      expect(bodies).to.deep.equal(["first", "second"]);
    });
  });

  it("that are new carry no request twice", async () => {
    let requests = 0;
    const port = await tcp((socket) => {
      socket.once("data", () => {
        requests++;
        socket.resetAndDestroy();
      });
    });
    const reply = await ask(client(), `http://127.0.0.1:${port}/`, { mayRepeat: true });
    expect(reply).to.include({ kind: "broken", errorClass: "reset" });
    expect(requests).to.equal(1);
  });

  it("that closed while they were idle are not used", async () => {
    let opened: Socket | undefined;
    const port = await tcp((socket) => {
      opened = socket;
      socket.on("data", () => socket.write(answer(200)));
    });
    const one = client();
    for (let n = 1; n <= 3; n++) {
      const reply = await ask(one, `http://127.0.0.1:${port}/`, { mayRepeat: false });
      expect(reply.kind).to.equal("answered");
      opened?.end();
      await until(() => opened?.destroyed === true); // its other side has closed too
    }
    expect(connections()).to.equal(3);
  });
});
