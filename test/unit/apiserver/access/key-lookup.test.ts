import { expect } from "chai";
import { keyLookup } from "../../../../apiserver/access/key-lookup.ts";
import { anApiKey } from "../../../support/rows/fixtures.ts";

describe("keyLookup", () => {
  it("sees a revocation within 60 seconds though nothing announced it", async () => {
    const { site, lookup } = setUp();
    await lookup("h");
    revoke(site);
    site.now = new Date(site.now.getTime() + 20_000);
    expect(await revokedAt(lookup)).to.equal(null);
    site.now = new Date(site.now.getTime() + 39_000);
    expect(await revokedAt(lookup)).to.be.an.instanceOf(Date);
  });

  it("sees within 60 seconds that a key is gone, though nothing announced it", async () => {
    const { site, lookup } = setUp();
    await lookup("h");
    site.row = null;
    site.now = new Date(site.now.getTime() + 59_000);
    expect(await lookup("h")).to.equal(null);
  });

  for (const what of ["the key", "any key", "anything"] as const) {
    it(`sees a revocation at once when ${what} was announced`, async () => {
      const { site, row, lookup, tell } = setUp();
      await lookup("h");
      revoke(site);
      if (what === "the key") tell("api_keys", row._id);
      else tell(what === "anything" ? "*" : "api_keys", "*");
      expect(await revokedAt(lookup)).to.be.an.instanceOf(Date);
    });
  }

  it("sees a revocation that was announced while the key was being read", async () => {
    const { site, row, lookup, tell } = setUp();
    const reading = lookup("h");
    revoke(site);
    tell("api_keys", row._id);
    await reading;
    expect(await revokedAt(lookup)).to.be.an.instanceOf(Date);
  });

  it("keeps what it knows when another key was announced", async () => {
    const { site, lookup, tell } = setUp();
    await lookup("h");
    tell("api_keys", "key_other");
    await lookup("h");
    expect(site.loads).to.equal(1);
  });

  it("asks once for many requests, and again each time for a key that is not there", async () => {
    const { site, lookup } = setUp();
    await Promise.all(Array.from({ length: 10 }, () => lookup("h")));
    expect(site.loads).to.equal(1);
    site.row = null;
    await lookup("other");
    await lookup("other");
    expect(site.loads).to.equal(3);
  });

  it("knows a token that worked once, of a key that is gone", async () => {
    const { site, lookup } = setUp();
    expect(await lookup("worked once"), "it works again").to.equal(site.row);
    const { site: other, lookup: find } = setUp();
    other.row = null;
    expect([await find("worked once"), await find("h")]).to.deep.equal(["revoked", null]);
  });
});

const revokedAt = async (lookup: ReturnType<typeof keyLookup>): Promise<Date | null | undefined> => {
  const found = await lookup("h");
  return found === "revoked" ? undefined : found?.revoked_at;
};

const setUp = () => {
  const { row } = anApiKey({ tenant_id: "ten_1" });
  const site = { now: new Date("2026-01-01T00:00:00Z"), loads: 0, row: row as typeof row | null };
  const listeners: ((collection: string, id: string) => void)[] = [];
  const lookup = keyLookup({
    keys: {
      findByHash: async () => {
        site.loads++;
        return site.row;
      },
    },
    revoked: { has: async (hash) => hash === "worked once" },
    changes: { on: (listener) => void listeners.push(listener) },
    clock: { now: () => site.now },
  });
  return {
    site,
    row,
    lookup,
    tell: (collection: string, id: string) => listeners.forEach((listen) => listen(collection, id)),
  };
};

const revoke = (site: ReturnType<typeof setUp>["site"]) => {
  if (site.row !== null) site.row = { ...site.row, revoked_at: site.now };
};
