import { expect } from "chai";
import fc from "fast-check";
import type { Reply } from "../../../support/api/api.ts";
import { effective, targets } from "../../../support/api/bounds.ts";
import { neutral } from "../../../support/api/neutral.ts";
import { useSite } from "../../../support/api/site.ts";

const runsOfMember = 8; // of 60 members, inside and outside: some 1,000 calls

describe("the bounds of a notification", () => {
  const { site, tenant } = useSite({ HERALD_LOG_LEVEL: "error" }, { plan: { _id: "fast", api_rps: 100_000 } });

  // Over e-mail alone, so that no push's size has a say.
  const send = (members: object, target: object = {}): Promise<Reply> =>
    site.api.call("POST", "/v1/notifications", {
      token: tenant.token,
      body: {
        app_id: tenant.app._id,
        email_subject: "s",
        email_body: "b",
        ...members,
        target: { all: true, channels: ["email"], ...target },
      },
    });
  const stored = () => site.db.collection("messages").countDocuments();
  for (const { member, good, bad } of effective) {
    it(`takes ${member} inside, names it outside and stores nothing`, async () => {
      await forEach(good, async (value) => {
        const reply = await send({ [member]: value });
        expect(reply.status, `${JSON.stringify(value)?.slice(0, 200)} ${reply.text.slice(0, 300)}`).to.equal(202);
      });
      const before = await stored();
      await forEach(bad, async ({ value, field }) =>
        named(await send({ [member]: value }), member, clip(field), value),
      );
      expect(await stored()).to.equal(before);
    });
  }

  for (const { member, good, bad } of targets) {
    it(`takes target.${member} inside, names it outside and stores nothing`, async () => {
      await forEach(good, async (value) => {
        const reply = await send({}, { include_external_ids: [], [member]: value });
        expect(reply.status, reply.text.slice(0, 300)).to.equal(202);
      });
      const before = await stored();
      await forEach(bad, async ({ value, field }) => {
        named(await send({}, { [member]: value }), member, clip(`target.${field}`), value);
      });
      expect(await stored()).to.equal(before);
    });
  }

  const text = { contents: { en: "x" } };
  const exact: { it: string; members?: object; target?: object; field: string }[] = [
    { it: "no one to send to", target: { all: undefined }, field: "target" },
    { it: "all: false alone", target: { all: false }, field: "target" },
    { it: "segments", target: { included_segments: ["a"] }, field: "target.included_segments[0]" },
    { it: "excluded segments", target: { excluded_segments: ["a"] }, field: "target.excluded_segments[0]" },
    { it: "no filter", target: { filters: { every: [] } }, field: "target.filters" },
    {
      it: "a fallback to a channel without content",
      members: { fallback: [{ channel: "sms", after_minutes: 1, if: "failed" }] },
      field: "fallback[0].channel",
    },
    {
      it: "a fallback in a circle",
      members: { ...text, fallback: ["sms", "email"].map((channel) => ({ channel, after_minutes: 1, if: "failed" })) },
      field: "fallback[1].channel",
    },
    {
      it: "a fallback at once",
      members: { ...text, fallback: [{ channel: "sms", after_minutes: 0, if: "failed" }] },
      field: "fallback[0].after_minutes",
    },
    { it: "a faulty filter", target: { filters: { all: [{ field: "x" }] } }, field: "target.filters.all[0].field" },
    {
      it: "addresses beside channels without e-mail",
      members: { contents: { en: "x" } },
      target: { email_to: ["a@example.com"], channels: ["ios_push"] },
      field: "target.email_to",
    },
    { it: "an address that is none", target: { email_to: ["a@b.example", "a"] }, field: "target.email_to[1]" },
    {
      it: "a number that is none",
      target: { include_phone_numbers: ["4711"] },
      field: "target.include_phone_numbers[0]",
    },
    { it: "a channel of a later release", target: { channels: ["email", "sms"] }, field: "target.channels[1]" },
    {
      it: "a channel that the message has no content for",
      target: { channels: ["email", "web_push"] },
      field: "target.channels[1]",
    },
    { it: "a member that does not exist", members: { IncludedSegments: ["a"] }, field: "IncludedSegments" },
    {
      it: "a target member that does not exist",
      target: { include_segments: ["a"] },
      field: "target.include_segments",
    },
    {
      it: "an id that is not ours",
      target: { include_subscription_ids: ["sub_1"] },
      field: "target.include_subscription_ids[0]",
    },
    {
      it: "a user id that is not ours",
      target: { include_aliases: { user_id: ["x"] } },
      field: "target.include_aliases.user_id[0]",
    },
    {
      it: "an alias label in capitals",
      target: { include_aliases: { CRM: ["x"] } },
      field: "target.include_aliases.CRM",
    },
    {
      it: "eleven alias labels",
      target: { include_aliases: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`l${i}`, ["x"]])) },
      field: "target.include_aliases",
    },
    {
      it: "an empty list of segments alone",
      target: { all: undefined, included_segments: [] },
      field: "target",
    },
    { it: "no channel at all", target: { channels: [] }, field: "target.channels" },
    { it: "a subject without a body", members: { email_body: undefined }, field: "email_body" },
    { it: "a body without a subject", members: { email_subject: undefined }, field: "email_subject" },
    { it: "MJML beside a body", members: { email_mjml: "<mjml></mjml>" }, field: "email_body" },
    { it: "MJML that is none", members: { email_body: undefined, email_mjml: "x" }, field: "email_mjml" },
    {
      it: "MJML that is too long",
      members: { email_body: undefined, email_mjml: "x".repeat(500_001) },
      field: "email_mjml",
    },
    {
      it: "a sender without a mail",
      members: { ...text, email_subject: undefined, email_body: undefined, email_from_name: "n" },
      target: { channels: undefined },
      field: "email_subject",
    },
    { it: "a badge to be set to nothing", members: { ios_badge_type: "SetTo" }, field: "ios_badge_count" },
    {
      it: "a number for a badge that is to stay",
      members: { ios_badge_type: "None", ios_badge_count: 1 },
      field: "ios_badge_count",
    },
    { it: "custom data", members: { custom_data: { a: 1 } }, field: "custom_data" },
    { it: "an app id of the wrong type", members: { app_id: 7 }, field: "app_id" },
  ];
  for (const { it: name, members, target, field } of exact) {
    it(`names ${field} for ${name}`, async () => {
      const before = await stored();
      named(await send(members ?? {}, target ?? {}), name, field, target ?? members);
      expect(await stored()).to.equal(before);
    });
  }

  it("takes every value that asks for nothing, shows it as it was sent, and estimates the same", async () => {
    const { content, options, target } = neutral;
    const { body, status, text: said } = await send({ ...content, ...options }, target);
    expect(status, said.slice(0, 500)).to.equal(202);
    const shown = await site.api.call("GET", `/v1/notifications/${body.id}`, { token: tenant.token });
    expect(shown.body).to.deep.include({
      content: { email_subject: "s", email_body: "b", ...content },
      options,
      target: { all: true, channels: ["email"], ...target },
    });
    const asked = { token: tenant.token, body: { app_id: tenant.app._id, target: { all: true, ...target } } };
    expect((await site.api.call("POST", "/v1/notifications/estimate", asked)).status).to.equal(200);
  });

  it("names every failing member of a body", async () => {
    const { body } = await send({ name: "", ttl: 1, priority: 7, nonsense: 1 });
    const errors = body.error.details["errors"] as { field: string }[];
    expect(errors.map(({ field }) => field)).to.have.members(["name", "ttl", "priority", "nonsense"]);
  });

  it("refuses a push over 4 KB in one language, naming the texts", async () => {
    for (const channel of ["ios_push", "android_push", "web_push"]) {
      const fits = { contents: { en: "x" }, target: { all: true, channels: [channel] } };
      const before = await stored();
      const big = { ...fits, contents: { en: "x", de: "y".repeat(4096) } };
      const [small, large] = await Promise.all(
        [fits, big].map((body) =>
          site.api.call("POST", "/v1/notifications", {
            token: tenant.token,
            body: { app_id: tenant.app._id, ...body },
          }),
        ),
      );
      expect([small?.status, large?.status, large?.body.error.details["field"]]).to.deep.equal([202, 400, "contents"]);
      expect(await stored()).to.equal(before + 1);
    }
  });
});

/** Long names are cut in `field`. */
const clip = (field: string): string => (field.length <= 200 ? field : `${field.slice(0, 200)}…`);

const forEach = <T>(values: fc.Arbitrary<T>, check: (value: T) => Promise<void>) =>
  fc.assert(fc.asyncProperty(values, check), { numRuns: runsOfMember });

const named = (reply: Reply, member: string, field: string, value: unknown): void => {
  const found = [reply.status, reply.body.error?.details["field"]];
  expect(found, `${member}: ${JSON.stringify(value)?.slice(0, 200)}`).to.deep.equal([400, field]);
};
