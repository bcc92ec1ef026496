import { expect } from "chai";
import { KubeError } from "../../../operator/kube/errors.ts";
import { type Installation, installation, type Manifest } from "./harness.ts";
import { ios, manifests } from "./manifests.ts";
import { webhookCases } from "./webhook-cases.ts";

describe("custom resource definitions", function () {
  this.timeout(60_000);
  let herald: Installation;
  let make: ReturnType<typeof manifests>;

  before(async () => {
    herald = await installation();
    make = manifests(herald, "default");
  });
  after(() => herald.close());

  const answer = (object: Manifest): Promise<string> =>
    herald.apply(object).then(
      () => "accepted",
      (error: unknown) => (error instanceof KubeError ? error.reason : String(error)),
    );
  const mail = { host: "smtp.example", fromAddress: "a@b.example" };

  type Case = { it: string; object: () => Manifest; says: string };
  const cases: Case[] = [
    { it: "a plan whose name has a dot", object: () => make.plan({}, `${herald.id}.plan`), says: "without dots" },
    { it: "a plan with no requests", object: () => make.plan({ apiRps: 0 }), says: "spec.apiRps" },
    {
      it: "a plan with an unknown feature",
      object: () => make.plan({ features: ["telepathy"] }),
      says: "Unsupported value",
    },
    {
      it: "a plan with a feature twice",
      object: () => make.plan({ features: ["exports", "exports"] }),
      says: "Duplicate",
    },
    { it: "a plan without a title", object: () => make.plan({ title: undefined }), says: "spec.title: Required" },
    { it: "a tenant without a namespace", object: () => make.tenant({ namespaces: [] }), says: "spec.namespaces" },
    {
      it: "a reason without a suspension",
      object: () => make.tenant({ suspendedReason: "x" }),
      says: "needs suspended: true",
    },
    {
      it: "a team id of another length",
      object: () => make.app({ channels: { ios: { ...ios, teamId: "A" } } }),
      says: "teamId",
    },
    {
      it: "a mail user without a Secret",
      object: () => make.app({ channels: { email: { ...mail, username: "u" } } }),
      says: "secretRef goes with username or dkim",
    },
    {
      it: "a mail Secret for nothing",
      object: () => make.app({ channels: { email: { ...mail, secretRef: { name: "x" } } } }),
      says: "secretRef goes with username or dkim",
    },
    { it: "a key without a scope", object: () => make.apiKey({ scopes: [] }), says: "spec.scopes" },
    { it: "a key with an unknown scope", object: () => make.apiKey({ scopes: ["root"] }), says: "Unsupported value" },
    { it: "a key that expires at no time", object: () => make.apiKey({ expiresAt: "soon" }), says: "date-time" },
    { it: "a key for no app", object: () => make.apiKey({ appRefs: [] }), says: "spec.appRefs" },
    { it: "an ftp webhook", object: () => make.webhook({ url: "ftp://a.example" }), says: "spec.url" },
    { it: "a webhook without a host", object: () => make.webhook({ url: "https://" }), says: "with a host" },
    {
      it: "a webhook with a password",
      object: () => make.webhook({ url: "https://u:p@a.example/" }),
      says: "user or password",
    },
    { it: "a webhook for no event", object: () => make.webhook({ events: [] }), says: "spec.events" },
    {
      it: "a webhook for the test event",
      object: () => make.webhook({ events: ["webhook.test"] }),
      says: "Unsupported value",
    },
    { it: "a contact that is no address", object: () => make.tenant({ contact: { email: "me" } }), says: "email" },
    ...webhookCases.map(({ it: name, spec, says }) => ({
      it: `a webhook ${name}`,
      object: () => make.webhook(spec),
      says,
    })),
    {
      it: "a type that requires what it does not have",
      object: () => make.activityType({ contentStateSchema: schemaOf({ a: { type: "string" } }, ["b"]) }),
      says: "required names a member",
    },
    {
      it: "a type with a member of another type",
      object: () => make.activityType({ contentStateSchema: schemaOf({ a: { type: "array" } }) }),
      says: "Unsupported value",
    },
    {
      it: "a type with 51 members",
      object: () =>
        make.activityType({
          contentStateSchema: schemaOf(
            Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`m${index}`, { type: "string" }])),
          ),
        }),
      says: "Too many",
    },
    {
      it: "a type whose member has no name",
      object: () => make.activityType({ contentStateSchema: schemaOf({ "": { type: "string" } }) }),
      says: "too short",
    },
  ];
  for (const { it: name, object, says } of cases) {
    it(`refuse ${name}`, async () => {
      expect(await answer(object())).to.contain(says);
    });
  }

  it("admit what is right, and fill in the defaults", async () => {
    expect(await answer(make.plan())).to.equal("accepted");
    expect(await answer(make.apiKey({ expiresAt: "2030-01-01T00:00:00Z" }))).to.equal("accepted");
    expect(await answer(make.webhook({ url: "http://127.0.0.1:8080/hook?a=b@c" }))).to.equal("accepted");
    expect((await herald.get(make.webhook()))?.spec).to.include({
      batch: false,
      bodyContentType: "application/json",
      paused: false,
      maxInFlight: 10,
      timeoutMilliseconds: 10_000,
    });
    expect((await herald.get(make.plan()))?.spec).to.include({ backlogPerTenant: 1000, deletionPolicy: "Delete" });
  });

  const fixed = [
    { it: "a key's Secret", object: () => make.apiKey(), spec: { connectionSecretName: "other" } },
    { it: "a webhook's app", object: () => make.webhook(), spec: { appRef: "other" } },
    { it: "a webhook's Secret", object: () => make.webhook(), spec: { secretName: "other" } },
    { it: "a live activity type's name", object: () => make.activityType(), spec: { name: "Other" } },
  ];
  for (const { it: name, object, spec } of fixed) {
    it(`keep ${name} as it was made`, async () => {
      await herald.apply(object());
      const refused = await herald.patch(object(), { spec }).catch((error: unknown) => String(error));
      expect(refused).to.contain("cannot be changed");
    });
  }

  it("drop a member that they do not know", async () => {
    const seen = await herald.apply(make.plan({ apiRbs: 3 }));
    expect(seen.spec).not.to.have.property("apiRbs");
  });
});

const schemaOf = (properties: object, required?: string[]) => ({
  type: "object",
  properties,
  ...(required && { required }),
});
