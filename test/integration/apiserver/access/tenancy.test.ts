import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { allCollections } from "#core/storage/collections.ts";
import { operations } from "../../../../apiserver/features.ts";
import { type Installation, installation } from "../../../support/api/api.ts";
import { formOf } from "../../../support/api/form.ts";
import { pathTo, type Things, thingsOf } from "../../../support/api/things.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";
import { until } from "../../../support/until.ts";

/** What they did is added seconds after they did it; test/integration/service/usage.test.ts looks at it. */
const countedLater = "tenant_usage";
/** They name nothing: who asks is told of themselves. */
const ofCaller = ["getUsage", "listApiKeys", "createApiKey", "listOrganisationAudit", "listApps", "createApp"];

describe("tenancy", () => {
  let site: Installation;
  let ours: Awaited<ReturnType<typeof seedTenant>>;
  let theirs: Awaited<ReturnType<typeof seedTenant>>;
  let ids: Things;

  before(async () => {
    site = await installation({ HERALD_OPERATING_TENANT: "operations" });
    ours = await seedTenant(site.db);
    theirs = await seedTenant(site.db, { tenant: { name: "operations" } });
    ids = await thingsOf(site, theirs);
    await until(isQuiet);
  });
  after(() => site.close());

  /** All that is theirs, in every collection whose documents are somebody's. */
  const everything = () =>
    Promise.all(
      allCollections
        .filter(({ owner, name }) => owner.kind !== "installation" && name !== countedLater)
        .map(({ name }) => site.db.collection(name).find({ tenant_id: theirs.tenant._id }).sort({ _id: 1 }).toArray()),
    );
  /** What follows from their requests, e.g. that events were published, is written after the replies. */
  const isQuiet = async (): Promise<boolean> => {
    const before = await everything();
    await sleep(500);
    return isDeepStrictEqual(await everything(), before);
  };

  // What a key of ours tries: their app in the path, and our own app with the ids of what is theirs.
  const keyed = operations.filter(
    ({ scopes, id }) => typeof scopes !== "string" && !ofCaller.includes(id) && id !== "createNotifications", // 404 is its items'
  );
  for (const { method, path, form } of keyed) {
    for (const own of [false, true]) {
      const isThing = path.startsWith("/v1/apps/{appId}/") && /\{(?!appId)/.test(path);
      if (own && !isThing) continue;
      it(`answers 404 to ${method} ${path} of ${own ? "another's thing below our app" : "another's app"}`, async () => {
        const before = await everything();
        const filled = pathTo(path, { ...ids, ...(own && { appId: ours.app._id, channel: "fax" }) });
        const isUnnamed = !path.includes("{"); // then the body or the query names the app
        const query = method === "GET" && isUnnamed ? `?app_id=${theirs.app._id}` : "";
        const body = isUnnamed ? { app_id: theirs.app._id } : {};
        const reply = await site.api.call(method, filled + query, {
          token: ours.token,
          ...(form === undefined ? ["POST", "PATCH"].includes(method) && { body } : formOf({})),
        });
        expect([reply.status, reply.body.error.code]).to.deep.equal([404, "HS_NOT_FOUND"]);
        expect(await everything()).to.deep.equal(before);
      });
    }
  }

  it("has something of theirs for every parameter of a path", () => {
    const names = keyed.flatMap(({ path }) => Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name));
    expect(Object.keys(ids)).to.include.members([...new Set(names)]);
  });

  it("covers every operation that needs a key", () => {
    expect(keyed).to.have.length.above(30);
  });

  it("reaches nobody of another tenant by subscription id", async () => {
    const target = { include_subscription_ids: [ids["subscriptionId"]] };
    const body = { app_id: ours.app._id, target, contents: { en: "x" } };
    const reply = await site.api.call("POST", "/v1/notifications", { token: ours.token, body });
    expect([reply.status, reply.body.recipients_estimate]).to.deep.equal([202, 0]);
    expect(reply.body["missing"]).to.deep.equal({ subscription_ids: [ids["subscriptionId"]], aliases: {} });
  });

  it("keeps one idempotency key for each app", async () => {
    const send = (tenant: typeof ours) =>
      site.api.call("POST", "/v1/notifications", {
        token: tenant.token,
        body: { app_id: tenant.app._id, target: { all: true }, contents: { en: "x" }, idempotency_key: "shared" },
      });
    const [a, b] = [await send(ours), await send(theirs)];
    expect(a.body.id).to.not.equal(b.body.id);
    expect(b.headers.get("Idempotent-Replayed")).to.equal(null);
  });
});
