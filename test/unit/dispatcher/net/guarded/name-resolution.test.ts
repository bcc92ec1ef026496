import { Server } from "node:http";
import { expect } from "chai";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { dns } from "#core/runtime/http/resolve.ts";
import type { GuardedClient } from "../../../../../dispatcher/net/guarded/client.ts";
import {
  type DnsAnswer,
  type DnsRecord,
  type NameServer,
  startNameServer,
} from "../../../../support/servers/name-server.ts";
import { ask, outgoing } from "../../../../support/servers/outgoing.ts";

const a = (data: string, name?: string): DnsRecord => ({ type: "A", data, ...(name === undefined ? {} : { name }) });
const aaaa = (data: string): DnsRecord => ({ type: "AAAA", data });
const cname = (data: string, name?: string): DnsRecord => ({ ...a(data, name), type: "CNAME" });

const forbidden = {
  kind: "unreached",
  reason: "the name leads to an address that is not allowed",
  errorClass: "address_refused",
} as const;

describe("a name that a guarded request asks for", () => {
  const { client, http, listen, connections } = outgoing();
  let server: NameServer;
  let answers: (type: string, name: string) => DnsAnswer;
  beforeEach(async () => {
    server = await startNameServer((name, type) => answers(type, name));
  });
  afterEach(() => server.stop());

  /** A client of that name server; 127.0.0.2 stands for a public address here, 127.0.0.1 for a private one. */
  const asker = (allow = ["127.0.0.2"], ports?: number[]): GuardedClient =>
    client({
      guard: addressGuard({ allow, ...(ports === undefined ? {} : { ports }) }),
      resolve: dns({ servers: [server.address] }),
    });

  it("is resolved by DNS, for both families, each time that a connection is made", async () => {
    answers = (type) => (type === "A" ? [a("127.0.0.1")] : []);
    const port = await http((_, response) => response.end());
    const one = asker(["127.0.0.1"]);
    for (let n = 0; n < 3; n++) {
      expect((await ask(one, `http://hooks.test:${port}/`)).kind).to.equal("answered");
    }
    expect(connections()).to.equal(1);
    expect(server.asked().sort()).to.deep.equal(["A hooks.test", "AAAA hooks.test"]);
    await ask(one, `http://hooks.test:${port}/`, { poolKey: "whk_2" });
    expect(server.asked()).to.have.length(4);
  });

  it("is asked for without the root's dot", async () => {
    answers = () => [];
    await ask(asker(), "http://hooks.test./");
    expect(server.asked().sort()).to.deep.equal(["A hooks.test", "AAAA hooks.test"]);
  });

  it("may lead over a chain of names", async () => {
    const chain = [cname("b.test"), cname("c.test", "b.test"), a("127.0.0.1", "c.test")];
    answers = (type) => (type === "A" ? chain : [cname("b.test"), cname("c.test", "b.test")]);
    const port = await http((_, response) => response.end());
    expect((await ask(asker(["127.0.0.1"]), `http://a.test:${port}/`)).kind).to.equal("answered");
  });

  const refused: { it: string; a?: DnsAnswer; aaaa?: DnsAnswer }[] = [
    { it: "a private address", a: [a("127.0.0.1")] },
    { it: "a public address and a private one", a: [a("127.0.0.2"), a("127.0.0.1")] },
    { it: "a private address among many", a: [2, 2, 2, 2, 2, 2, 2, 1].map((n) => a(`127.0.0.${n}`)) },
    { it: "a public address and a private one of the other family", a: [a("127.0.0.2")], aaaa: [aaaa("::1")] },
    { it: "an IPv4-mapped private address", aaaa: [aaaa("::ffff:127.0.0.1")] },
    { it: "an IPv4-compatible private address", aaaa: [aaaa("::127.0.0.1")] },
    { it: "a private address by NAT64", aaaa: [aaaa("64:ff9b::7f00:1")] },
    { it: "a private address by a local NAT64", aaaa: [aaaa("64:ff9b:1::7f00:1")] },
    { it: "a private address by 6to4", aaaa: [aaaa("2002:7f00:1::1")] },
    { it: "the metadata address", a: [a("169.254.169.254")] },
    { it: "the unspecified address", a: [a("0.0.0.0")] },
    { it: "a unique local address", aaaa: [aaaa("fd00:ec2::254")] },
    { it: "a link-local address", aaaa: [aaaa("fe80::1")] },
    { it: "a chain of names that ends in a private address", a: [cname("b.test"), a("127.0.0.1", "b.test")] },
    { it: "a chain of names that leads to localhost", a: [cname("localhost"), a("127.0.0.1", "localhost")] },
  ];
  for (const { it: what, a: v4 = [], aaaa: v6 = [] } of refused) {
    it(`is not connected to when it leads to ${what}`, async () => {
      answers = (type) => (type === "A" ? v4 : v6);
      const port = await http((_, response) => response.end());
      for (const protocol of ["http", "https"]) {
        const reply = await ask(asker(["127.0.0.2"], [port]), `${protocol}://hooks.test:${port}/`);
        expect(reply, protocol).to.deep.equal(forbidden);
      }
      expect(connections()).to.equal(0);
    });
  }

  it("gains nothing by answering public first and 127.0.0.1 next", async () => {
    let asked = 0;
    answers = (type) => (type === "A" ? [a(asked++ === 0 ? "127.0.0.2" : "127.0.0.1")] : []);
    const server = new Server((_, response) => response.writeHead(200, { connection: "close" }).end());
    const port = await listen(server, "127.0.0.2");
    const one = asker();
    expect((await ask(one, `http://hooks.test:${port}/`)).kind).to.equal("answered");
    expect(await ask(one, `http://hooks.test:${port}/`)).to.deep.equal(forbidden);
  });

  it("may lead anywhere within an allowed range on any port, elsewhere to the allowed ports only", async () => {
    answers = (type) => (type === "A" ? [a("203.0.114.1")] : []);
    expect(await ask(asker(["127.0.0.1"], [443]), "https://hooks.test:9443/")).to.deep.equal(forbidden);
    expect(await ask(asker([], [443]), "https://hooks.test:9443/")).to.deep.equal({
      kind: "refused",
      reason: "only these ports are allowed: 443",
      errorClass: "address_refused",
    });
  });

  const unresolved: { it: string; answer: DnsAnswer; reason: string }[] = [
    { it: "is not there", answer: "no such name", reason: "the name cannot be resolved" },
    { it: "has no address", answer: [], reason: "the name cannot be resolved" },
    { it: "has a server that fails", answer: "failure", reason: "no name server tells the addresses of the name" },
    { it: "has a server that is silent", answer: "silence", reason: "the name was not resolved in time" },
  ];
  for (const { it: what, answer, reason } of unresolved) {
    it(`is a failure of DNS when it ${what}`, async () => {
      answers = () => answer;
      const connectTimeoutMs = answer === "silence" ? 300 : 5_000; // what is answered gets time enough for it
      const reply = await ask(asker(), "http://hooks.test/", { connectTimeoutMs, timeoutMs: 9_000 });
      expect(reply).to.deep.equal({ kind: "unreached", reason, errorClass: "dns" });
    });
  }

  it("is not read from /etc/hosts", async () => {
    answers = () => "no such name";
    const reply = await ask(asker(["127.0.0.1"]), "http://localhost/");
    expect(reply).to.deep.include({ errorClass: "dns" });
    expect(server.asked()).to.include("A localhost");
  });
});
