import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { secretNamesOf } from "#core/channels/accounts.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { hashesAfter, hashesBefore, hashOf } from "../../../../operator/policies/api-keys/hashes.ts";
import { type Accounts, accountsOf } from "../../../../operator/policies/apps/credentials.ts";
import { sealAccounts } from "../../../../operator/policies/apps/seal-accounts.ts";
import { isRotationDue } from "../../../../operator/policies/own-secret.ts";
import { type Claimant, sharesOf } from "../../../../operator/policies/tenants/namespaces.ts";
import { apnsKey, ios, rsaKey, serviceAccount, vapidKey } from "../../../integration/operator/support/manifests.ts";

const claimant = (name: string, parts: Partial<Claimant> = {}): Claimant => ({
  name,
  createdAt: "2026-01-01T00:00:00Z",
  claims: ["n"],
  owns: [],
  ...parts,
});

const spec = (channels: object) =>
  ({ timeZone: "UTC", idempotencyMismatch: "replay", deletionPolicy: "Delete", channels }) as Parameters<
    typeof accountsOf
  >[0];

const read = (channels: object, secrets: Record<string, Record<string, string> | null>) => {
  const result = accountsOf(spec(channels), new Map(Object.entries(secrets)));
  return "finding" in result ? `${result.finding.reason}: ${result.finding.message}` : result.accounts;
};

describe("policy: namespaces", () => {
  const cases = [
    { it: "gives an unclaimed namespace", others: [], granted: true },
    {
      it: "gives it to the older of two new claims",
      others: [claimant("y", { createdAt: "2026-02-01T00:00:00Z" })],
      granted: true,
    },
    { it: "refuses it to the younger", others: [claimant("y", { createdAt: "2025-01-01T00:00:00Z" })], granted: false },
    { it: "decides by name in the same second", others: [claimant("b")], granted: false },
    {
      it: "leaves it to the one that has it, though younger",
      others: [claimant("y", { createdAt: "2027", owns: ["n"] })],
      granted: false,
    },
    {
      it: "gives it when the one that has it claims it no more",
      others: [claimant("y", { claims: [], owns: ["n"] })],
      granted: true,
    },
    { it: "takes none of the same name for itself", others: [claimant("x", { owns: ["n"] })], granted: false },
  ];
  for (const { it: name, others, granted } of cases) {
    it(name, () => {
      expect(sharesOf(claimant("x"), others).granted).to.deep.equal(granted ? ["n"] : []);
    });
  }
});

describe("policy: credentials", () => {
  const ref = { secretRef: { name: "s" } };
  const web = { subject: "mailto:a@b.example", ...ref };
  const mail = { host: "h", port: 25, security: "none", fromAddress: "a@b.example" };
  const account = JSON.parse(serviceAccount()) as Record<string, string>;

  const bad: { it: string; channels: object; secret: Record<string, string>; says: string }[] = [
    {
      it: "a service account that is not JSON",
      channels: { android: ref },
      secret: { "service_account.json": "{secret" },
      says: "is not a JSON object",
    },
    {
      it: "a service account without a project",
      channels: { android: ref },
      secret: { "service_account.json": JSON.stringify({ ...account, project_id: undefined }) },
      says: "has no project_id",
    },
    {
      it: "a token address that is not https",
      channels: { android: ref },
      secret: { "service_account.json": JSON.stringify({ ...account, token_uri: "http://evil.example" }) },
      says: "token_uri is not an https address",
    },
    {
      it: "a service account with an EC key",
      channels: { android: ref },
      secret: { "service_account.json": JSON.stringify({ ...account, private_key: apnsKey() }) },
      says: "is not an RSA key",
    },
    {
      it: "a VAPID key of another length",
      channels: { web },
      secret: { private_key: "AAAA" },
      says: "is not 32 bytes",
    },
    { it: "a VAPID key of zeros", channels: { web }, secret: { private_key: "A".repeat(43) }, says: "curve P-256" },
    {
      it: "a user without a password",
      channels: { email: { ...mail, username: "u", ...ref } },
      secret: {},
      says: "no value for password",
    },
    {
      it: "a DKIM key that is an EC key",
      channels: { email: { ...mail, dkim: { domain: "d.example", selector: "s" }, ...ref } },
      secret: { dkim_private_key: apnsKey() },
      says: "neither an RSA nor an Ed25519 key",
    },
  ];
  for (const { it: name, channels, secret, says } of bad) {
    it(`refuse ${name}, without quoting it`, () => {
      const said = JSON.stringify(read(channels, { s: secret }));
      expect(said).to.contain(says);
      for (const value of Object.values(secret)) expect(said).not.to.contain(value.slice(0, 20));
    });
  }

  it("report everything that is wrong at once", () => {
    const said = read({ ios, web }, { ios: null, s: {} });
    expect(said).to.equal("SecretNotFound: Secret ios does not exist; Secret s has no value for private_key");
  });

  it("are asked of each Secret once", () => {
    expect(secretNamesOf(spec({ ios, web: { ...web, secretRef: ios.secretRef } }))).to.deep.equal(["ios"]);
  });

  it("take mail without a user and a signed one", () => {
    const dkim = { domain: "d.example", selector: "s" };
    expect(read({ email: mail }, {})).to.have.nested.property("email.password", null);
    const signed = read({ email: { ...mail, dkim, ...ref } }, { s: { dkim_private_key: rsaKey() } });
    expect(signed).to.have.nested.property("email.dkim.selector", "s");
  });

  it("derive the public half of the VAPID key", () => {
    const accounts = read({ web }, { s: { private_key: vapidKey() } }) as Accounts;
    expect(Buffer.from(accounts.web_push?.public_key ?? "", "base64url")).to.have.length(65);
  });
});

describe("policy: sealing", () => {
  const oldKey = `old:${randomBytes(32).toString("base64")}`;
  const newKey = `new:${randomBytes(32).toString("base64")}`;
  const accounts: Accounts = {
    ios_push: { team_id: "T", key_id: "K", bundle_id: "B", environment: "production", private_key: "p" },
  };
  const stored = sealAccounts(keyRing(oldKey), "app_1", accounts, null);

  it("begins with revision 1 and keeps what is the same, byte for byte", () => {
    expect(stored.channels_revision).to.equal(1);
    expect(sealAccounts(keyRing(oldKey), "app_1", accounts, stored)).to.deep.equal(stored);
  });

  it("raises the revision when a secret changes", () => {
    const ios_push = { ...accounts.ios_push!, private_key: "q" };
    expect(sealAccounts(keyRing(oldKey), "app_1", { ios_push }, stored).channels_revision).to.equal(2);
  });

  it("seals anew under a new writing key, in the same revision", () => {
    const sealed = sealAccounts(keyRing(`${newKey},${oldKey}`), "app_1", accounts, stored);
    expect(sealed.channels.ios_push?.private_key.kid).to.equal("new");
    expect(sealed.channels_revision).to.equal(1);
  });

  it("seals anew what cannot be opened any more", () => {
    const sealed = sealAccounts(keyRing(newKey), "app_1", accounts, stored);
    expect(sealed.channels_revision).to.equal(2);
  });

  it("gives back only its own members of a whole row", () => {
    const row = { ...stored, name: "stale" };
    expect(sealAccounts(keyRing(oldKey), "app_1", accounts, row)).to.have.all.keys("channels", "channels_revision");
  });
});

describe("policy: tokens", () => {
  const now = new Date("2026-01-01T00:00:00Z");
  const later = (ms: number): Date => new Date(now.getTime() + ms);
  const overlapMs = 24 * 3_600_000;
  const at = { token: "new", expiresAt: null, overlapMs, now };
  const current = { hash: hashOf("new"), expires_at: null };

  it("leave all that works as it is until the new one is in the Secret", () => {
    const known = [
      { hash: "old", expires_at: null },
      { hash: "older", expires_at: later(1) },
    ];
    expect(hashesBefore({ ...at, known })).to.deep.equal([current, ...known]);
  });

  it("keep the replaced token valid for a day, and no longer than it was to live", () => {
    const [, old] = hashesAfter({ ...at, known: [{ hash: "old", expires_at: null }] });
    expect(old).to.deep.equal({ hash: "old", expires_at: later(overlapMs) });
    const [, short] = hashesAfter({ ...at, known: [{ hash: "old", expires_at: later(1) }] });
    expect(short?.expires_at).to.deep.equal(later(1));
  });

  it("drop what has expired and keep what still overlaps", () => {
    const known = [
      { hash: "gone", expires_at: later(-1) },
      { hash: "still", expires_at: later(1_000) },
    ];
    expect(hashesAfter({ ...at, known }).map(({ hash }) => hash)).to.deep.equal([current.hash, "still"]);
  });

  it("end sooner when the overlap is made shorter, and never later", () => {
    const known = [
      { hash: "long", expires_at: later(5_000) },
      { hash: "short", expires_at: later(500) },
    ];
    const of = (overlap: number) => hashesAfter({ ...at, known, overlapMs: overlap }).slice(1);
    expect(of(1_000).map(({ expires_at }) => expires_at)).to.deep.equal([later(1_000), later(500)]);
    expect(of(9_000)).to.deep.equal(known);
    expect(of(0)).to.deep.equal([]);
  });

  const rotations = [
    { asked: undefined, rotatedFor: null, due: false },
    { asked: "1", rotatedFor: null, due: true },
    { asked: "1", rotatedFor: "1", due: false },
    { asked: "2", rotatedFor: "1", due: true },
    { asked: "", rotatedFor: "1", due: false },
  ];
  for (const { asked, rotatedFor, due } of rotations) {
    it(`${due ? "rotate" : "do not rotate"} for ${asked} after ${rotatedFor}`, () => {
      expect(isRotationDue(asked, rotatedFor)).to.equal(due);
    });
  }
});
