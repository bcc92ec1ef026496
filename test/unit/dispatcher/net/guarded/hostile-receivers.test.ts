import { createServer as createHttps } from "node:https";
import type { Socket } from "node:net";
import { createServer as createTls } from "node:tls";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import type { WebhookErrorClass } from "#core/schema/vocabulary/webhook-errors.ts";
import { selfSigned } from "../../../../../dev/simulators/kit/certificate.ts";
import type { GuardedReply } from "../../../../../dispatcher/net/guarded/client.ts";
import { ask, outgoing } from "../../../../support/servers/outgoing.ts";
import { until } from "../../../../support/until.ts";

/** Repeats a write until the connection is closed. */
const endlessly = (socket: Socket, everyMs: number, text: string): void => {
  const timer = setInterval(() => socket.write(text), everyMs);
  socket.once("close", () => clearInterval(timer));
};

/** Writes as fast as it is read, `total` bytes at most. */
const pour = (socket: Socket, total: number, text = "x"): void => {
  const piece = Buffer.from(text.repeat(65_536 / text.length));
  let left = total;
  const write = (): void => {
    while (left > 0 && !socket.destroyed) {
      left -= piece.length;
      if (!socket.write(piece)) return void socket.once("drain", write);
    }
  };
  write();
};

type Hostile = {
  it: string;
  answer: (socket: Socket) => void;
  expect: { kind: GuardedReply["kind"]; errorClass: WebhookErrorClass; reason: string };
};

const late = { errorClass: "timeout", reason: "no whole answer in time" } as const;
const closed = { errorClass: "reset", reason: "the connection was closed before an answer" } as const;
const brokenOff = { errorClass: "bad_reply", reason: "the answer broke off" } as const;
const noHttp = { errorClass: "bad_reply", reason: "the answer is no HTTP" } as const;

const hostiles: Hostile[] = [
  { it: "hangs before its head", answer: () => {}, expect: { kind: "broken", ...late } },
  {
    it: "hangs within its head",
    answer: (socket) => socket.write("HTTP/1.1 200 OK\r\nx-a: "),
    expect: { kind: "broken", ...late },
  },
  {
    it: "hangs within its body",
    answer: (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"),
    expect: { kind: "answered", ...late },
  },
  {
    it: "drips its head",
    answer: (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nx-a: ");
      endlessly(socket, 20, "a");
    },
    expect: { kind: "broken", ...late },
  },
  {
    it: "drips its body",
    answer: (socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n");
      endlessly(socket, 20, "a");
    },
    expect: { kind: "answered", ...late },
  },
  {
    it: "announces its answer without end",
    answer: (socket) => endlessly(socket, 1, "HTTP/1.1 102 Processing\r\n\r\n"),
    expect: { kind: "broken", ...late },
  },
  {
    it: "sends a head without end",
    answer: (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      endlessly(socket, 1, `x-a: ${"a".repeat(1_000)}\r\n`);
    },
    expect: { kind: "broken", errorClass: "bad_reply", reason: "the answer's head is too large" },
  },
  { it: "closes at once", answer: (socket) => socket.end(), expect: { kind: "broken", ...closed } },
  { it: "resets the connection", answer: (socket) => socket.resetAndDestroy(), expect: { kind: "broken", ...closed } },
  {
    it: "closes within its body",
    answer: (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"),
    expect: { kind: "answered", ...brokenOff },
  },
  {
    it: "resets within its body",
    answer: (socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf");
      setTimeout(() => socket.resetAndDestroy(), 20);
    },
    expect: { kind: "answered", ...brokenOff },
  },
  {
    it: "closes within a chunk",
    answer: (socket) => socket.end("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nha"),
    expect: { kind: "answered", ...brokenOff },
  },
  {
    it: "speaks no HTTP",
    answer: (socket) => socket.end("220 mail.example.com ESMTP\r\n"),
    expect: { kind: "broken", ...noHttp },
  },
  {
    it: "tells two lengths of one body",
    answer: (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 4\r\n\r\nokok"),
    expect: { kind: "broken", ...noHttp },
  },
  {
    it: "changes to another protocol",
    answer: (socket) => socket.write("HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
    expect: { kind: "broken", ...closed },
  },
];

describe("a guarded request to a receiver that", () => {
  const { client, listen, http, tcp, connections } = outgoing();

  for (const { it: name, answer, expect: expected } of hostiles) {
    it(`${name} ends as ${expected.errorClass}, and its connection is closed`, async () => {
      let closes = 0;
      const port = await tcp((socket) => {
        socket.once("close", () => closes++).once("data", () => answer(socket));
      });
      const isLate = expected.errorClass === "timeout"; // what is no matter of time gets enough of it
      const reply = await ask(client(), `http://127.0.0.1:${port}/`, { timeoutMs: isLate ? 500 : 9_000 });
      const { kind, ...failure } = expected;
      if (reply.kind === "answered") expect(reply.broken).to.deep.equal(failure);
      expect(reply).to.deep.include(reply.kind === "answered" ? { kind } : expected);
      await until(() => closes === 1);
      expect(connections()).to.equal(1);
    });
  }

  const floods: { it: string; head: string; text?: string; kept: [number, WebhookErrorClass | null] | null }[] = [
    { it: "a body", head: "HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n", kept: [16_384, null] },
    { it: "a body without length", head: "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", kept: [16_384, null] },
    {
      it: "a chunk's extension",
      head: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;",
      kept: [0, "bad_reply"],
    },
    { it: "announcements", head: "", text: "HTTP/1.1 103 Early Hints\r\nx: 1\r\n\r\n", kept: null },
  ];
  for (const { it: what, head, text, kept } of floods) {
    it(`sends 1 GB as ${what} is read to what is kept, and its connection is closed`, async () => {
      let pouring: Socket | undefined;
      const port = await tcp((socket) => {
        pouring = socket.once("data", () => {
          socket.write(head);
          pour(socket, 2 ** 30, text);
        });
      });
      const reply = await ask(client(), `http://127.0.0.1:${port}/`, { maxReplyBytes: 16_384, timeoutMs: 9_000 });
      const read = reply.kind === "answered" ? [reply.body.length, reply.broken?.errorClass ?? null] : null;
      expect(read).to.deep.equal(kept);
      expect(reply).not.to.have.property("errorClass", "timeout");
      await until(() => pouring?.destroyed === true);
      expect(pouring?.bytesWritten).to.be.below(20_000_000); // what the two kernels took before they learnt of it
    });
  }

  it("sends a gzip bomb gets none of it inflated, and was asked for no encoding", async () => {
    let asked: string | undefined = "unasked";
    const bomb = gzipSync(Buffer.alloc(1_000_000));
    const port = await http((request, response) => {
      asked = request.headers["accept-encoding"]?.toString();
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
    });
    const reply = await ask(client(), `http://127.0.0.1:${port}/`, { maxReplyBytes: 16_384 });
    expect(reply.kind === "answered" && reply.body.equals(bomb)).to.equal(true);
    expect(asked).to.equal(undefined);
  });

  it("redirects to a private address is not followed", async () => {
    const port = await http((_, response) => response.writeHead(307, { location: "http://127.0.0.1:1/" }).end());
    const reply = await ask(client(), `http://127.0.0.1:${port}/`);
    expect(reply).to.include({ kind: "answered", status: 307, broken: null });
    expect(connections()).to.equal(1);
  });

  it("answers more than it was asked for loses its connection, and the next answer is its own", async () => {
    const ok = (body: string): string => `HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n${body}`;
    const port = await tcp((socket) => {
      socket.once("data", () => socket.write(`${ok("right")}${ok("wrong")}`));
    });
    const one = client();
    for (let n = 0; n < 2; n++) {
      const reply = await ask(one, `http://127.0.0.1:${port}/`);
      expect(reply.kind === "answered" && reply.body.toString()).to.equal("right");
    }
    expect(connections()).to.equal(2);
  });

  describe("by TLS", () => {
    const good = selfSigned();

    it("sends 1 GB of announcements has its connection closed", async () => {
      let pouring: Socket | undefined;
      const server = createTls(good, (socket) => {
        pouring = socket.on("error", () => {}).once("data", () => pour(socket, 2 ** 30, "HTTP/1.1 102 A\r\n\r\n"));
      });
      const port = await listen(server);
      const reply = await ask(client({ ca: good.cert }), `https://127.0.0.1:${port}/`, { timeoutMs: 9_000 });
      expect(reply).to.include({ kind: "broken", errorClass: "reset" });
      await until(() => pouring?.destroyed === true);
    });

    const expired = selfSigned(new Date("2010-01-01T00:00:00Z"));
    const early = selfSigned(new Date(Date.now() + 86_400_000));
    const cases = [
      { it: "has an expired certificate", tls: expired, ca: expired.cert, reason: "the certificate has expired" },
      { it: "has one of tomorrow", tls: early, ca: early.cert, reason: "the certificate is not valid yet" },
      { it: "has one of nobody", tls: good, reason: "the certificate is of no trusted authority" },
      { it: "has one of another name", tls: good, ca: good.cert, reason: "the certificate is of another name" },
    ];
    for (const { it: name, tls, ca, reason } of cases) {
      it(`${name} is sent nothing`, async () => {
        let requests = 0;
        const port = await listen(createHttps(tls, () => requests++));
        const one = client({ resolve: async () => ["127.0.0.1"], ...(ca === undefined ? {} : { ca }) });
        const host = name === "has one of another name" ? "hooks.test" : "127.0.0.1";
        const reply = await ask(one, `https://${host}:${port}/`);
        expect(reply).to.deep.equal({ kind: "unreached", reason, errorClass: "tls" });
        expect(requests).to.equal(0);
      });
    }

    it("speaks none is sent nothing", async () => {
      const port = await http((_, response) => response.end());
      const reply = await ask(client(), `https://127.0.0.1:${port}/`);
      expect(reply).to.include({ kind: "unreached", errorClass: "tls" });
    });

    it("closes during the handshake is sent nothing", async () => {
      const port = await tcp((socket) => socket.once("data", () => socket.destroy()));
      const reply = await ask(client(), `https://127.0.0.1:${port}/`);
      expect(reply).to.deep.equal({
        kind: "unreached",
        reason: "the connection was closed during the TLS handshake",
        errorClass: "tls",
      });
    });
  });
});
