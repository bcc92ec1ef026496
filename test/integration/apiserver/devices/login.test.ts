import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { SignJWT } from "jose";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import type { Reply } from "../../../support/api/api.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";

const pem = (key: KeyObject) => key.export({ type: "spki", format: "pem" }).toString();

describe("devices that log in", () => {
  const { site } = useSharedSite();
  const [ec, other] = [1, 2].map(() => generateKeyPairSync("ec", { namedCurve: "P-256" }));
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const ed = generateKeyPairSync("ed25519");
  if (ec === undefined || other === undefined) throw new Error("two pairs of keys");
  const keys = [
    { kid: "one", alg: "ES256", public_key: pem(ec.publicKey) },
    { kid: "two", alg: "RS256", public_key: pem(rsa.publicKey) },
    {
      kid: "three",
      alg: "EdDSA",
      public_key: JSON.stringify(createPublicKey(pem(ed.publicKey)).export({ format: "jwk" })),
    },
  ] as const;
  const apps = new Map<string, Awaited<ReturnType<typeof seedTenant>>>();
  const appOf = (mode: string): string => apps.get(mode)?.app._id ?? "";
  const users = () => site.db.collection<UserRow>("users");
  const subscriptions = () => site.db.collection<SubscriptionRow>("subscriptions");

  before(async () => {
    for (const mode of ["off", "optional", "required"] as const)
      apps.set(mode, await seedTenant(site.db, { app: { identity_verification: mode, identity_keys: [...keys] } }));
    const others = ["one", "theirs"].map((kid) => ({ kid, alg: "ES256" as const, public_key: pem(other.publicKey) }));
    apps.set(
      "another",
      await seedTenant(site.db, { app: { identity_verification: "required", identity_keys: others } }),
    );
  });

  type Asked = { app: string; secret?: string; token?: string; body?: object };
  /** Logins from one address are limited: whoever is told to wait does so. */
  const call = async (method: string, path: string, { app, secret, token, body }: Asked): Promise<Reply> => {
    for (;;) {
      const reply = await site.api.call(method, `/sdk/v1/${path}`, {
        headers: {
          "X-HS-App-Id": app,
          ...(secret !== undefined && { "X-HS-Subscription-Token": secret }),
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        },
        ...(body !== undefined && { body }),
      });
      if (reply.status !== 429) return reply;
      await sleep(1_000 * Number(reply.headers.get("Retry-After")));
    }
  };
  const registered = async (mode: string) => {
    const body = { install_id: randomUUID(), channel: "ios_push", token: randomBytes(32).toString("hex") };
    const { body: made } = await call("POST", "subscriptions", { app: appOf(mode), body });
    const {
      subscription_id: id,
      user_id: userId,
      subscription_token: secret,
    } = made as unknown as Record<string, string>;
    return { app: appOf(mode), id: id ?? "", userId: userId ?? "", secret: secret ?? "", body };
  };
  type Device = Awaited<ReturnType<typeof registered>>;
  const login = ({ app, secret }: Device, external_id: string, token?: string) =>
    call("POST", "login", { app, secret, body: { external_id }, ...(token !== undefined && { token }) });
  const inbox = ({ app, secret }: Device, token?: string) =>
    call("GET", "inbox", { app, secret, ...(token !== undefined && { token }) });
  const reasonOf = ({ status, body }: Reply) => [status, body.error?.code, body.error?.details?.["reason"]];
  const invalid = (reason: string) => [401, "HS_IDENTITY_TOKEN_INVALID", reason];
  const ownerOf = async (device: Device) => {
    const row = await subscriptions().findOne({ _id: device.id });
    return { user: row?.user_id, externalId: row?.external_id };
  };

  type Claims = { iss?: string; exp?: number | null; nbf?: number; iat?: number; identity?: unknown };
  const nowSeconds = () => Math.floor(Date.now() / 1_000);
  const signed = (app: string, externalId: string, { head = {}, key = ec.privateKey, ...claims }: Signing = {}) => {
    const { exp = nowSeconds() + 600, iss = app, identity = { external_id: externalId }, ...more } = claims;
    const all = { iss, identity, ...(exp !== null && { exp }), ...more };
    return new SignJWT(all).setProtectedHeader({ alg: "ES256", kid: "one", ...head }).sign(key);
  };
  type Signing = Claims & { head?: { alg?: string; kid?: string }; key?: KeyObject | Uint8Array };

  it("with a token name their anonymous user, and read their inbox", async () => {
    for (const [head, key] of [
      [{ alg: "ES256", kid: "one" }, ec.privateKey],
      [{ alg: "RS256", kid: "two" }, rsa.privateKey],
      [{ alg: "EdDSA", kid: "three" }, ed.privateKey],
    ] as const) {
      const device = await registered("required");
      const name = `named-${randomUUID()}`;
      const token = await signed(device.app, name, { head, key });
      const reply = await login(device, name, token);
      expect(reply.body).to.deep.equal({ user_id: device.userId, merged: false, claimed: [] });
      expect(await ownerOf(device)).to.deep.equal({ user: device.userId, externalId: name });
      expect((await inbox(device, token)).status).to.equal(200);
      expect(reasonOf(await inbox(device))).to.deep.equal(invalid("missing"));
      const others = await signed(device.app, "another");
      expect(reasonOf(await inbox(device, others))).to.deep.equal(invalid("identity_mismatch"));
    }
  });

  it("with a token become part of the person who is there, and again change nothing", async () => {
    const [first, second] = [await registered("optional"), await registered("optional")];
    const name = `known-${randomUUID()}`;
    const token = await signed(first.app, name);
    const { body: known } = await login(first, name, token);
    const joined = await login(second, name, token);
    expect(joined.body).to.deep.equal({ user_id: known["user_id"], merged: true, claimed: [] });
    expect(await users().findOne({ _id: second.userId })).to.equal(null);
    expect((await login(second, name, token)).body).to.deep.equal({
      user_id: known["user_id"],
      merged: false,
      claimed: [],
    });
  });

  it("where no token is asked for are believed", async () => {
    const [first, second] = [await registered("off"), await registered("off")];
    const name = `plain-${randomUUID()}`;
    await login(first, name);
    expect((await login(second, name)).body["merged"]).to.equal(true);
    expect((await inbox(second)).status).to.equal(200);
  });

  it("of another person are moved alone", async () => {
    const device = await registered("optional");
    const [one, two] = [`one-${randomUUID()}`, `two-${randomUUID()}`];
    await login(device, one, await signed(device.app, one));
    const { body } = await login(device, two, await signed(device.app, two));
    expect(body["merged"]).to.equal(false);
    expect(body["user_id"]).not.to.equal(device.userId);
    expect((await users().findOne({ _id: device.userId }))?.external_id).to.equal(one);
  });

  it("log out to a new anonymous user, and stay theirs", async () => {
    const device = await registered("optional");
    const name = `gone-${randomUUID()}`;
    await login(device, name, await signed(device.app, name));
    const asked = { app: device.app, secret: device.secret, body: {} };
    const { body } = await call("POST", "logout", asked);
    expect(body["user_id"]).not.to.equal(device.userId);
    expect(await ownerOf(device)).to.deep.equal({ user: body["user_id"], externalId: null });
    expect((await call("POST", "logout", asked)).body).to.deep.equal(body);
    const others = { app: device.app, secret: device.secret, body: { subscription_id: "sub_1" } };
    expect((await call("POST", "logout", others)).status).to.equal(404);
  });

  it("make one person of one external id, however many come at once", async () => {
    const devices = await Promise.all([1, 2, 3, 4].map(() => registered("off")));
    const name = `crowd-${randomUUID()}`;
    const replies = await Promise.all(devices.map((device) => login(device, name)));
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    expect(await users().countDocuments({ app_id: appOf("off"), external_id: name })).to.equal(1);
    expect(new Set((await Promise.all(devices.map(ownerOf))).map(({ user }) => user)).size).to.equal(1);
  });

  it("of another app log in with the keys of that one, which others refuse below", async () => {
    for (const kid of ["one", "theirs"]) {
      const device = await registered("another");
      const token = await signed(device.app, `other-${kid}`, { head: { kid }, key: other.privateKey });
      expect((await login(device, `other-${kid}`, token)).status).to.equal(200);
    }
  });

  const dayS = 86_400;
  const faults: { it: string; token: (app: string, name: string) => Promise<string>; reason: string }[] = [
    {
      it: "that nobody signed",
      token: async (app, name) =>
        `${encoded({ alg: "none" })}.${encoded({ iss: app, exp: nowSeconds() + 60, identity: { external_id: name } })}.`,
      reason: "algorithm",
    },
    {
      it: "that is signed with the public key as a secret",
      token: (app, name) =>
        signed(app, name, { head: { alg: "HS256", kid: "two" }, key: new TextEncoder().encode(keys[1].public_key) }),
      reason: "algorithm",
    },
    {
      it: "that says another algorithm than its key",
      token: (app, name) => signed(app, name, { head: { alg: "ES256", kid: "two" } }),
      reason: "algorithm",
    },
    {
      it: "of a key that is not the app's",
      token: (app, name) => signed(app, name, { head: { kid: "four" } }),
      reason: "unknown_key",
    },
    {
      it: "without the name of its key",
      token: (app, name) => signed(app, name, { head: { kid: undefined as never } }),
      reason: "unknown_key",
    },
    {
      it: "by a key of another app",
      token: (app, name) => signed(app, name, { head: { kid: "theirs" }, key: other.privateKey }),
      reason: "unknown_key",
    },
    {
      it: "by a key of another app, which has the name of one of theirs",
      token: (app, name) => signed(app, name, { head: { kid: "one" }, key: other.privateKey }),
      reason: "signature",
    },
    { it: "for another app", token: (app, name) => signed(app, name, { iss: "app_1" }), reason: "issuer" },
    {
      it: "that ended yesterday",
      token: (app, name) => signed(app, name, { exp: nowSeconds() - dayS }),
      reason: "expired",
    },
    { it: "that never ends", token: (app, name) => signed(app, name, { exp: null }), reason: "malformed" },
    {
      it: "that ends in eight days",
      token: (app, name) => signed(app, name, { exp: nowSeconds() + 8 * dayS }),
      reason: "malformed",
    },
    {
      it: "that begins tomorrow",
      token: (app, name) => signed(app, name, { nbf: nowSeconds() + dayS }),
      reason: "not_yet_valid",
    },
    {
      it: "of a server whose clock is a day ahead",
      token: (app, name) => signed(app, name, { iat: nowSeconds() + dayS }),
      reason: "not_yet_valid",
    },
    { it: "without a person", token: (app, name) => signed(app, name, { identity: {} }), reason: "malformed" },
    { it: "of another person", token: (app) => signed(app, "another"), reason: "identity_mismatch" },
    { it: "that is none", token: async () => "no.json.here", reason: "malformed" },
    { it: "that is cut", token: async (app, name) => (await signed(app, name)).slice(0, -20), reason: "signature" },
  ];
  for (const { it: fault, token, reason } of faults)
    it(`are refused with a token ${fault}, and stay as they were`, async () => {
      const device = await registered("optional");
      const name = `refused-${randomUUID()}`;
      expect(reasonOf(await login(device, name, await token(device.app, name)))).to.deep.equal(invalid(reason));
      expect(await ownerOf(device)).to.deep.equal({ user: device.userId, externalId: null });
    });

  it("are refused without a token where one is required", async () => {
    const device = await registered("required");
    expect(reasonOf(await login(device, "somebody"))).to.deep.equal(invalid("missing"));
  });

  it("have keys that are public ones", async () => {
    const { app, token } = apps.get("optional") ?? expect.fail("no app");
    const set = async (key: object) =>
      (await site.api.call("PATCH", `/v1/apps/${app._id}/settings`, { token, body: { identity_keys: [key] } })).body
        .error?.details?.["field"];
    const at = "identity_keys[0].public_key";
    const secret = ec.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    expect(await set({ kid: "a", alg: "ES256", public_key: secret })).to.equal(at);
    expect(await set({ kid: "a", alg: "RS256", public_key: pem(ec.publicKey) })).to.equal(at);
    expect(await set({ kid: "a", alg: "ES256", public_key: "no key" })).to.equal(at);
    expect(await set({ kid: "a", alg: "ES256", public_key: pem(ec.publicKey) })).to.equal(undefined);
  });
});

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
