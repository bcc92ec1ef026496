import { expect } from "chai";
import { addressGuard } from "#core/runtime/http/address-guard.ts";

const open = addressGuard({ allow: [] });
const own = addressGuard({ allow: ["10.1.0.0/16", "127.0.0.1", "fd00::/8"] });

const https = new URL("https://hooks.example.com/");
const http = new URL("http://hooks.example.com/");

const words = (...lines: readonly string[]): string[] => lines.flatMap((line) => line.split(" "));

/** One address of every network that is not the public internet, and its edges. */
const forbidden = words(
  "0.0.0.0 0.255.255.255 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.0.1",
  "169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.1.1",
  "198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.1.1.1 240.0.0.1",
  "255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 64:ff9b::7f00:1",
  "64:ff9b::a00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1 2001::1 2001:1ff::1 2001:db8::1",
  "2002:7f00:1::1 3fff::1 5f00::1 fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1",
  "100:1::1 200::1 1fff:ffff::1 4000::1 6000::1 8000::1 a000::1 c000::1 e000::1 f000::1 fe00::1",
);

const fine = words(
  "8.8.8.8 1.1.1.1 11.0.0.1 100.63.255.255 100.128.0.1 172.15.255.255 172.32.0.1 198.17.255.255",
  "223.255.255.255 2606:4700:4700::1111 2a00:1450::1 2001:200::1 3ffe::1 64:ff9b::808:808",
);

describe("the guard of outgoing addresses", () => {
  for (const address of forbidden) {
    it(`does not connect to ${address}`, () => expect(open.mayConnect(address, https)).to.equal(false));
  }
  for (const address of fine) {
    it(`connects to ${address}`, () => expect(open.mayConnect(address, https)).to.equal(true));
  }

  it("does not connect to what is no IP address", () => {
    expect(open.mayConnect("localhost", https)).to.equal(false);
    expect(open.mayReach("localhost")).to.equal(false);
  });

  it("reaches servers of other protocols on the public internet and in the operator's own ranges alone", () => {
    expect(forbidden.filter((address) => open.mayReach(address))).to.deep.equal([]);
    expect(fine.filter((address) => !open.mayReach(address))).to.deep.equal([]);
    for (const address of ["10.1.2.3", "127.0.0.1", "fd00::1"]) expect(own.mayReach(address)).to.equal(true);
    expect(own.mayReach("10.2.0.1")).to.equal(false);
  });

  /** Spellings of this machine, of the metadata address and of private networks that a URL parser reads. */
  const spellings = words(
    "https://127.0.0.1/ https://127.1/ https://127.0.1/ https://2130706433/ https://017700000001/ https://0x7f.1/",
    "https://0177.0.0.1/ https://0x7f.0x0.0x0.0x1/ https://0x7f000001/ https://0x7F.0.0.1/ https://127.0.0.1./",
    "https://①②⑦.⓪.⓪.①/ https://１２７.０.０.１/ https://127。0。0。1/ https://%31%32%37.0.0.1/ https://127.0.0.1:443/",
    "https://0/ https://0.0.0.0/ https://[::]/ https://[::1]/ https://[0:0:0:0:0:0:0:1]/ https://[::0.0.0.1]/",
    "https://[::ffff:7f00:1]/ https://[::ffff:127.0.0.1]/ https://[::127.0.0.1]/ https://[0:0:0:0:0:ffff:127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/ https://[64:ff9b::127.0.0.1]/ https://[64:ff9b:1::7f00:1]/ https://[2002:7f00:1::]/",
    "https://2852039166/ https://0xa9fea9fe/ https://[::ffff:169.254.169.254]/ https://[fe80::1]/ https://[fd00::1]/",
    "https://localhost/ https://LOCALHOST/ https://localhost./ https://api.localhost/ https://ⓛocalhost/",
  );
  for (const url of spellings) {
    it(`refuses ${url}`, () => {
      expect(open.problemOf(new URL(url))).to.equal("private and local addresses are not allowed");
    });
  }

  const urls: { url: string; problem: RegExp | null }[] = [
    { url: "https://hooks.example.com/in", problem: null },
    { url: "https://8.8.8.8/", problem: null },
    { url: "http://hooks.example.com/in", problem: /only https/ },
    { url: "http://8.8.8.8/", problem: /only https/ },
    { url: "https://hooks.example.com:8443/", problem: null },
    { url: "https://hooks.example.com:22/", problem: /^only these ports are allowed: 443, 8443$/ },
    { url: "https://8.8.8.8:9443/", problem: /only these ports/ },
    { url: "https://[2606:4700:4700::1111]:25/", problem: /only these ports/ },
    { url: "https://notlocalhost/", problem: null },
    { url: "ftp://hooks.example.com/", problem: /only https/ },
    { url: "https://user:secret@hooks.example.com/", problem: /credentials/ },
  ];
  for (const { url, problem } of urls) {
    it(`${problem === null ? "lets" : "does not let"} ${url} be tried`, () => {
      const found = open.problemOf(new URL(url));
      if (problem === null) expect(found).to.equal(null);
      else expect(found).to.match(problem);
    });
  }

  it("lets the operator's own ranges be reached, also over plain http", () => {
    for (const address of ["10.1.2.3", "127.0.0.1", "fd00::1", "::ffff:127.0.0.1"]) {
      expect(own.mayConnect(address, http), address).to.equal(true);
      expect(own.mayConnect(address, https), address).to.equal(true);
    }
    expect(own.problemOf(new URL("http://127.0.0.1:8080/"))).to.equal(null);
  });

  it("does not thereby let other addresses be reached", () => {
    expect(own.mayConnect("10.2.0.1", https)).to.equal(false);
    expect(own.mayConnect("127.0.0.2", https)).to.equal(false);
    expect(own.mayConnect("8.8.8.8", http)).to.equal(false);
    expect(own.problemOf(new URL("http://8.8.8.8/"))).to.match(/only https/);
  });

  it("lets the ports be reached that it was made with, and only them", () => {
    const guard = addressGuard({ allow: [], ports: [9443] });
    expect(guard.problemOf(new URL("https://hooks.example.com:9443/"))).to.equal(null);
    expect(guard.problemOf(new URL("https://hooks.example.com/"))).to.equal("only these ports are allowed: 9443");
    expect(guard.mayConnect("8.8.8.8", new URL("https://hooks.example.com:9443/"))).to.equal(true);
    expect(guard.mayConnect("8.8.8.8", https)).to.equal(false);
  });

  it("lets the operator's own ranges be reached on any port, and by that no other address", () => {
    const url = new URL("http://receiver.team-a.svc:3000/");
    expect(own.problemOf(url), "a name may lead there").to.equal(null);
    expect(own.mayConnect("10.1.2.3", url)).to.equal(true);
    expect(own.mayConnect("8.8.8.8", url)).to.equal(false);
    expect(own.mayConnect("8.8.8.8", new URL("https://hooks.example.com:3000/"))).to.equal(false);
  });

  it("lets localhost be tried where 127.0.0.1 is allowed", () => {
    expect(own.problemOf(new URL("http://localhost:3000/"))).to.equal(null);
  });

  for (const range of ["10.0.0.0/33", "10.0.0.0/", "10.0.0/8", "::/129", "host/8", "1.2.3.4/8/8", "10.0.0.0/x"]) {
    it(`does not accept ${range} as a range`, () => {
      expect(() => addressGuard({ allow: [range] })).to.throw(RangeError, range);
    });
  }
});
