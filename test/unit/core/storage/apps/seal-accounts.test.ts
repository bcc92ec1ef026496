import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { type Accounts, sealAccounts } from "#core/storage/apps/seal-accounts.ts";

describe("policy: sealing", () => {
  const oldKey = `old:${randomBytes(32).toString("base64")}`;
  const newKey = `new:${randomBytes(32).toString("base64")}`;
  const accounts: Accounts = {
    ios_push: { team_id: "T", key_id: "K", bundle_id: "B", environment: "production", private_key: "p" },
  };
  const stored = sealAccounts(keyRing(oldKey), "app_1", accounts, { stored: null });

  it("begins with revision 1 and keeps what is the same, byte for byte", () => {
    expect(stored.channels_revision).to.equal(1);
    expect(sealAccounts(keyRing(oldKey), "app_1", accounts, { stored })).to.deep.equal(stored);
  });

  it("raises the revision when a secret changes", () => {
    const ios_push = { ...accounts.ios_push!, private_key: "q" };
    expect(sealAccounts(keyRing(oldKey), "app_1", { ios_push }, { stored }).channels_revision).to.equal(2);
  });

  it("seals anew under a new writing key, in the same revision", () => {
    const sealed = sealAccounts(keyRing(`${newKey},${oldKey}`), "app_1", accounts, { stored });
    expect(sealed.channels.ios_push?.private_key.kid).to.equal("new");
    expect(sealed.channels_revision).to.equal(1);
  });

  it("seals anew what cannot be opened any more", () => {
    const sealed = sealAccounts(keyRing(newKey), "app_1", accounts, { stored });
    expect(sealed.channels_revision).to.equal(2);
  });

  it("gives back only its own members of a whole row", () => {
    const row = { ...stored, name: "stale" };
    expect(sealAccounts(keyRing(oldKey), "app_1", accounts, { stored: row })).to.have.all.keys(
      "channels",
      "channels_revision",
    );
  });
});
