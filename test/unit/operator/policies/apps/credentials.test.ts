import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import { secretNamesOf } from "#core/channels/accounts.ts";
import type { Accounts } from "#core/storage/apps/seal-accounts.ts";
import { accountsOf } from "../../../../../operator/policies/apps/credentials.ts";
import { apnsKey, ios, rsaKey, serviceAccount, vapidKey } from "../../../../integration/operator/support/manifests.ts";

const edKey = (): string =>
  generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();

const spec = (channels: object) =>
  ({ timeZone: "UTC", idempotencyMismatch: "replay", deletionPolicy: "Delete", channels }) as Parameters<
    typeof accountsOf
  >[0];

const read = (channels: object, secrets: Record<string, Record<string, string> | null>) => {
  const result = accountsOf(spec(channels), new Map(Object.entries(secrets)));
  return "finding" in result ? `${result.finding.reason}: ${result.finding.message}` : result.accounts;
};

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
      it: "a DKIM key of Ed25519",
      channels: { email: { ...mail, dkim: { domain: "d.example", selector: "s" }, ...ref } },
      secret: { dkim_private_key: edKey() },
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
      says: "not an RSA key",
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
    expect(said).to.equal(
      "SecretNotFound: spec.channels.ios: Secret ios does not exist; it has to have private_key; " +
        "spec.channels.web: Secret s has no value for private_key",
    );
  });

  it("are asked of each Secret once", () => {
    expect(secretNamesOf(spec({ ios, web: { ...web, secretRef: ios.secretRef } }))).to.deep.equal(["ios"]);
  });

  it("take mail without a user and a signed one", () => {
    const dkim = { domain: "d.example", selector: "s" };
    expect(read({ email: mail }, {})).to.have.nested.property("email.password", null);
    const signed = read({ email: { ...mail, dkim, ...ref } }, { s: { dkim_private_key: rsaKey() } });
    expect(signed).to.have.nested.property("email.dkim.selector", "s");
    const bounces = { domain: "bounces.example" };
    const heard = read({ email: { ...mail, bounces, ...ref } }, { s: { bounce_password: "secret" } });
    expect(heard).to.deep.nested.include({ "email.bounces": { ...bounces, password: "secret" } });
  });

  it("derive the public half of the VAPID key", () => {
    const accounts = read({ web }, { s: { private_key: vapidKey() } }) as Accounts;
    expect(Buffer.from(accounts.web_push?.public_key ?? "", "base64url")).to.have.length(65);
  });
});
