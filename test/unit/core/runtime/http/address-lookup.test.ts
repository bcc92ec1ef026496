import { expect } from "chai";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { addressLookup } from "#core/runtime/http/address-lookup.ts";
import { dns } from "#core/runtime/http/resolve.ts";
import { type DnsAnswer, type NameServer, startNameServer } from "../../../../support/servers/name-server.ts";

describe("addressLookup", () => {
  let server: NameServer;
  const answers: Record<string, DnsAnswer> = {
    "public.test": [{ type: "A", data: "8.8.8.8" }],
    "own.test": [{ type: "A", data: "10.1.2.3" }],
    "both.test": [
      { type: "A", data: "10.1.2.3" },
      { type: "A", data: "8.8.8.8" },
    ],
    "broken.test": "failure",
  };
  before(async () => {
    server = await startNameServer((name, type) => (type === "A" ? (answers[name] ?? "no such name") : []));
  });
  after(() => server.stop());

  const problemOf = (url: string): Promise<string | null> => {
    const guard = addressGuard({ allow: ["10.1.0.0/16"] });
    return addressLookup({ guard, resolve: dns({ servers: [server.address] }) })(new URL(url));
  };

  for (const [url, problem] of [
    ["https://public.test:22/", "only these ports are allowed: 443, 8443"],
    ["http://public.test/", "only https addresses are allowed"],
    ["http://both.test/", "only https addresses are allowed"],
    ["http://own.test:3000/", null],
    ["https://own.test:9443/", null],
    ["http://unknown.test/", null],
    ["http://broken.test/", null],
    ["http://10.1.2.3:3000/", null],
  ] as const) {
    it(`${problem === null ? "has nothing against" : "refuses"} ${url}`, async () => {
      expect(await problemOf(url)).to.equal(problem);
    });
  }

  it("does not ask for a name that may lead anywhere", async () => {
    const before = server.asked().length;
    expect(await problemOf("https://public.test/")).to.equal(null);
    expect(server.asked()).to.have.length(before);
  });
});
