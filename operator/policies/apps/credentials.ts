import { createECDH, createPrivateKey, type KeyObject } from "node:crypto";
import type { AppSpec } from "#core/schema/apps/resource.ts";
import type { ChannelAccounts } from "#core/storage/apps/apps.ts";
import type { Finding } from "../conditions.ts";
import { BadSecret, type Fault, faultFinding, type Read, reader, type SecretValues } from "../secret-reader.ts";

export type Accounts = ChannelAccounts<string>;

/** The provider accounts that an App asks for, or what is wrong with its Secrets. No message quotes a value. */
export const accountsOf = (
  { channels }: AppSpec,
  secrets: SecretValues,
): { accounts: Accounts; webPushPublicKey: string | null } | { finding: Finding } => {
  const faults: Fault[] = [];
  const read = reader(secrets, faults);
  const accounts: Accounts = {};
  if (channels.ios) accounts.ios_push = iosAccount(channels.ios, read);
  if (channels.android) accounts.android_push = androidAccount(channels.android, read);
  const web = channels.web && webAccount(channels.web, read);
  if (web) accounts.web_push = web;
  if (channels.email) accounts.email = emailAccount(channels.email, read);
  const finding = faultFinding(faults);
  return finding === null ? { accounts, webPushPublicKey: web?.public_key ?? null } : { finding };
};

/** The names of the Secrets that an App reads. */
export const secretNamesOf = ({ channels }: AppSpec): string[] => {
  const refs = [channels.ios, channels.android, channels.web, channels.email].map(
    (channel) => channel?.secretRef?.name,
  );
  return [...new Set(refs.filter((name) => name !== undefined))];
};

type Channels = AppSpec["channels"];

const iosAccount = (ios: NonNullable<Channels["ios"]>, read: Read): NonNullable<Accounts["ios_push"]> => ({
  team_id: ios.teamId,
  key_id: ios.keyId,
  bundle_id: ios.bundleId,
  environment: ios.environment,
  private_key: read(ios.secretRef, "private_key", apnsKey, ""),
});

const androidAccount = (
  android: NonNullable<Channels["android"]>,
  read: Read,
): NonNullable<Accounts["android_push"]> => {
  const none = { project_id: "", client_email: "", token_uri: "", private_key: "" };
  return read(android.secretRef, "service_account.json", serviceAccount, none);
};

const webAccount = (web: NonNullable<Channels["web"]>, read: Read): NonNullable<Accounts["web_push"]> => {
  const pair = read(web.secretRef, "private_key", vapidPair, { public_key: "", private_key: "" });
  return { subject: web.subject, ...pair };
};

const emailAccount = (email: NonNullable<Channels["email"]>, read: Read): NonNullable<Accounts["email"]> => {
  const ref = email.secretRef ?? { name: "" }; // a CEL rule requires it for every account that has a secret
  return {
    host: email.host,
    port: email.port,
    security: email.security,
    from_name: email.fromName ?? null,
    from_address: email.fromAddress,
    username: email.username ?? null,
    password: email.username === undefined ? null : read(ref, "password", (text) => text, ""),
    dkim: email.dkim === undefined ? null : { ...email.dkim, private_key: read(ref, "dkim_private_key", dkimKey, "") },
  };
};

const privateKey = (pem: string): KeyObject => {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new BadSecret("is not a private key in PEM"); // the cause may quote it
  }
};

/** Source: developer.apple.com, "Establishing a token-based connection to APNs": ES256. */
const apnsKey = (pem: string): string => {
  const key = privateKey(pem);
  if (key.asymmetricKeyDetails?.namedCurve !== "prime256v1") throw new BadSecret("is not an EC key of curve P-256");
  return pem;
};

/** Source: RFC 6376 (RSA) and RFC 8463 (Ed25519). */
const dkimKey = (pem: string): string => {
  const { asymmetricKeyType = "" } = privateKey(pem);
  if (!["rsa", "ed25519"].includes(asymmetricKeyType)) throw new BadSecret("is neither an RSA nor an Ed25519 key");
  return pem;
};

/** The file that the Google Cloud console gives for a service account. */
const serviceAccount = (text: string): NonNullable<Accounts["android_push"]> => {
  const file = jsonObject(text);
  const member = (name: string): string => {
    const value = file[name];
    if (typeof value !== "string" || value === "") throw new BadSecret(`has no ${name}`);
    return value;
  };
  const account = {
    project_id: member("project_id"),
    client_email: member("client_email"),
    token_uri: member("token_uri"),
    private_key: member("private_key"),
  };
  if (!isSafeAddress(account.token_uri)) throw new BadSecret("token_uri is not an https address");
  if (privateKey(account.private_key).asymmetricKeyType !== "rsa") throw new BadSecret("private_key is not an RSA key");
  return account;
};

const jsonObject = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>; // any object of JSON
  } catch {
    // refused below: the parser's own message would quote the text
  }
  throw new BadSecret("is not a JSON object");
};

/** https; plain http only for a loopback host, where simulators live. */
const isSafeAddress = (text: string): boolean => {
  const url = URL.parse(text);
  if (url?.protocol === "https:") return true;
  return url?.protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
};

/** Source: RFC 8292; the public half follows from the private one. */
const vapidPair = (text: string): { public_key: string; private_key: string } => {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length !== 32) throw new BadSecret("is not 32 bytes in base64url");
  const pair = createECDH("prime256v1");
  try {
    pair.setPrivateKey(bytes);
  } catch {
    throw new BadSecret("is not a private key of curve P-256");
  }
  return { public_key: pair.getPublicKey("base64url"), private_key: bytes.toString("base64url") };
};
