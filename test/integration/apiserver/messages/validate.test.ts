import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { NotificationValidated } from "#core/schema/messages/validate.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aSubscription, aUser, seed, seedTenant } from "../../../support/rows/fixtures.ts";

describe("validating a notification", () => {
  const { site, tenant } = useSharedSite({ key: { scopes: ["notifications:write", "analytics:read"] } });
  const to = { include_external_ids: ["anna", "bert"] };

  before(async () => {
    const of = { tenant_id: tenant.tenant._id, app_id: tenant.app._id };
    const anna = aUser({ ...of, external_id: "anna", language: "de", tags: { name: "Anna" } });
    const bert = aUser({ ...of, external_id: "bert" });
    const zoned = (timezone: string) => ({ device: { timezone } });
    await seed(site.db, {
      users: [anna, bert],
      subscriptions: [
        aSubscription({ ...of, user_id: anna._id, ...zoned("Asia/Kolkata") }),
        aSubscription({ ...of, user_id: bert._id, ...zoned("Pacific/Apia") }),
        aSubscription({ ...of, user_id: bert._id, channel: "email", token: "b@example.com", status: "unsubscribed" }),
      ],
    });
  });

  /** Ten a second are allowed: whoever is told to wait does so. */
  const ask = async (path: string, body: object, token = tenant.token) => {
    const call = { token, body: { app_id: tenant.app._id, target: to, ...body } };
    let reply = await site.api.call("POST", `/v1/notifications/${path}`, call);
    while (reply.status === 429) {
      await sleep(1_000 * Number(reply.headers.get("Retry-After")));
      reply = await site.api.call("POST", `/v1/notifications/${path}`, call);
    }
    return { status: reply.status, body: reply.body as unknown as NotificationValidated, error: reply.body.error };
  };
  const validate = (body: object, query = "") => ask(`validate${query}`, body);
  const count = () =>
    Promise.all(
      ["messages", "usage", "choices", "deliveries"].map((name) => site.db.collection(name).countDocuments()),
    );
  const text = { contents: { en: "Hello", de: "Hallo" } };

  it("says what each channel is handed, in each language, and stores nothing", async () => {
    const before = await count();
    const { body, status } = await validate({ ...text, target: { ...to, include_external_ids: ["anna", "none"] } });
    expect(status).to.equal(200);
    expect(body).to.deep.include({ valid: true, errors: [], recipients: 1, schedule: null, as: null });
    expect(body.warnings.map(({ field }) => field)).to.deep.equal(["target.include_external_ids"]);
    const ios = body.channels.find(({ channel }) => channel === "ios_push");
    expect(ios?.languages.map(({ language }) => language)).to.deep.equal([null, "en", "de"]);
    const [, , german] = ios?.languages ?? [];
    expect(JSON.stringify(german?.payload)).to.include("Hallo");
    expect(german?.bytes).to.be.within(20, 4_096);
    expect(german?.limit_bytes).to.equal(4_096);
    expect(await count()).to.deep.equal(before);
  });

  const wrong: { it: string; body: object; field: string | null; code?: string }[] = [
    { it: "a member of the wrong type", body: { ...text, priority: "high" }, field: "priority" },
    { it: "a member that there is not", body: { ...text, colour: "red" }, field: "colour" },
    { it: "no content", body: {}, field: "contents" },
    {
      it: "a time of day without local time",
      body: { ...text, delivery_time_of_day: "9:00" },
      field: "delivery_time_of_day",
    },
    { it: "a template of nobody", body: { template_id: "tpl_none" }, field: "template_id" },
    {
      it: "a segment of nobody",
      body: { ...text, target: { included_segments: ["x"] } },
      field: "target.included_segments[0]",
    },
    {
      it: "data that is too large",
      body: {
        ...text,
        data: {
          a: "x".repeat(1000),
          b: "y".repeat(1000),
          c: "z".repeat(1000),
          d: "w".repeat(1000),
          e: "v".repeat(1000),
        },
      },
      field: "contents",
    },
  ];
  for (const { it: name, body, field } of wrong)
    it(`says what is wrong with ${name}, as the refusal would`, async () => {
      const { status, body: said } = await validate(body);
      expect([status, said.valid, said.errors[0]?.field, said.errors[0]?.code]).to.deep.equal([
        200,
        false,
        field,
        "HS_VALIDATION_ERROR",
      ]);
      const refused = await site.api.call("POST", "/v1/notifications", {
        token: tenant.token,
        body: { app_id: tenant.app._id, target: to, ...body },
      });
      expect(refused.body.error.details["errors"]).to.deep.equal(
        said.errors.map(({ field: of, message }) => ({ field: of, message })),
      );
    });

  it("says what a person would get and what holds them back, to who may ask about people", async () => {
    const { body } = await validate(text, "?as=anna");
    const ios = body.channels.find(({ channel }) => channel === "ios_push");
    expect(ios?.languages.map(({ language }) => language)).to.deep.equal(["de"]);
    expect(body.as?.sentence).to.equal("Nothing that is known now holds it back.");
    expect(body.as?.recipients.map(({ decided_by }) => decided_by)).to.deep.equal([null]);
    const mail = {
      target: { include_external_ids: ["bert"], channels: ["email"] },
      email_subject: "s",
      email_body: "b",
    };
    const bert = (await validate(mail, "?as=bert")).body.as?.recipients;
    expect(bert?.map(({ channel, decided_by }) => [channel, decided_by])).to.have.deep.members([
      ["ios_push", "channel"],
      ["email", "subscription"],
    ]);
    const unmeant = await validate({ ...text, target: { include_external_ids: ["bert"] } }, "?as=anna");
    expect(unmeant.body.as?.recipients[0]?.decided_by).to.equal("targeted");
    expect((await validate(text, "?as=nobody")).error.details["field"]).to.equal("as");
    const { token } = await seedTenant(site.db, {
      tenant: { plan: "enterprise" },
      key: { scopes: ["notifications:write"] },
    });
    expect((await ask("validate?as=anna", text, token)).status, "another's app").to.equal(404);
  });

  it("says when recipients are sent to, as the estimate does", async () => {
    const timed = {
      ...text,
      delayed_option: "timezone",
      delivery_time_of_day: "9:00",
      send_after: "2027-06-01T00:00:00Z",
    };
    const zones = ["Asia/Kolkata", "Pacific/Apia"];
    const slots = ["2027-06-01T03:30:00.000Z", "2027-06-01T20:00:00.000Z"].map((at, n) => ({
      at,
      recipients: 1,
      zones: [zones[n]],
    }));
    for (const path of ["validate", "estimate"]) {
      const { body } = await ask(path, timed);
      expect(body.schedule, path).to.deep.equal(slots);
      expect(body).to.deep.include({ zone_unknown: 0, local_time_missed: 0, quiet_hours: { moved: 0, dropped: 0 } });
    }
    const { body } = await ask("estimate", {
      target: { all: true },
      throttle_rate_per_minute: 1,
      send_after: "2027-06-01T00:00:00Z",
    });
    expect(body.schedule?.map(({ at, recipients }) => [at, recipients])).to.deep.equal([
      ["2027-06-01T00:00:00.000Z", 1],
      ["2027-06-01T00:01:00.000Z", 1],
    ]);
    expect((await ask("estimate", { delivery_time_of_day: "9:00" })).error.details["field"]).to.equal(
      "delivery_time_of_day",
    );
  });
});
