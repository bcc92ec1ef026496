import { verify } from "node:crypto";
import { expect } from "chai";
import { makeCredentials } from "../../../../../dev/simulators/kit/credentials.ts";
import { apnsTokens } from "../../../../../dispatcher/channels/ios-push/apns-tokens.ts";
import { testCredentials } from "../../../../support/system/credentials.ts";

const { apns: account } = testCredentials();
const minute = 60_000;

const atMinute = () => {
  let nowMs = Date.parse("2026-11-21T08:00:00Z");
  return {
    clock: { now: () => new Date(nowMs) },
    pass: (minutes: number) => {
      nowMs += minutes * minute;
    },
  };
};

describe("apnsTokens", () => {
  it("signs an ES256 token with the 64-byte signature of RFC 7518", () => {
    const { clock } = atMinute();
    const [header = "", claims = "", signature = ""] = apnsTokens(clock).current(account)?.split(".") ?? [];
    const bytes = Buffer.from(signature, "base64url");
    expect(bytes).to.have.length(64);
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).to.deep.equal({ alg: "ES256", kid: account.keyId });
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).to.deep.equal({
      iss: account.teamId,
      iat: clock.now().getTime() / 1000,
    });
    const key = { key: account.publicKeyPem, dsaEncoding: "ieee-p1363" } as const;
    expect(verify("sha256", Buffer.from(`${header}.${claims}`), key, bytes)).to.equal(true);
  });

  it("keeps one token for a team and key over all apps, and renews it between 20 and 60 minutes", () => {
    const { clock, pass } = atMinute();
    const tokens = apnsTokens(clock);
    const first = tokens.current({ ...account });
    pass(20);
    expect(tokens.current({ ...account })).to.equal(first);
    pass(30);
    expect(tokens.current(account)).not.to.equal(first);
  });

  it("shares nothing with an account of the same names and another key", () => {
    const { clock } = atMinute();
    const tokens = apnsTokens(clock);
    expect(tokens.current({ ...account, ...makeCredentials().apns })).not.to.equal(tokens.current(account));
  });

  it("signs one new token however many pushes had the old one refused", () => {
    const { clock, pass } = atMinute();
    const tokens = apnsTokens(clock);
    const old = tokens.current(account) ?? "";
    pass(2);
    const renewed = tokens.renewed(account, old);
    expect(renewed).not.to.equal(old);
    expect(tokens.renewed(account, old)).to.equal(renewed);
  });

  it("does not sign again at once when a fresh token is refused", () => {
    const { clock } = atMinute();
    const tokens = apnsTokens(clock);
    expect(tokens.renewed(account, tokens.current(account) ?? "")).to.equal(null);
  });

  it("gives nothing for a key that cannot sign", () => {
    const tokens = apnsTokens(atMinute().clock);
    expect(tokens.current({ ...account, privateKeyPem: "no key" })).to.equal(null);
    expect(tokens.current({ ...account, privateKeyPem: makeCredentials().fcm.privateKeyPem })).to.equal(null);
  });
});
