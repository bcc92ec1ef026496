import { expect } from "chai";
import type { EstimateAudience } from "#core/schema/messages/estimate.ts";
import { estimateAudience } from "../../../../apiserver/messages/estimate-audience.ts";
import { anApp } from "../../../support/rows/work.ts";

const byChannel = { ios_push: 2, email: 1, sms: 4 };
const app = anApp({ channels: { ios_push: {}, email: {} } as ReturnType<typeof anApp>["channels"] });

const asked: string[][] = [];
const estimating = (inexact: { isUpperBound?: true; asOf?: Date } = {}) =>
  estimateAudience({
    limit: async () => undefined,
    aimOf: async () => null,
    lastCount: async () => null,
    planSchedule: () => null,
    clock: { now: () => new Date() },
    estimate: async ({ reach }) => {
      const over = [...new Set(reach.map(({ channel }) => channel))];
      asked.push(over);
      const counts = Object.fromEntries(Object.entries(byChannel).filter(([name]) => over.some((one) => one === name)));
      return {
        recipients: 0,
        byChannel: counts,
        contacts: [],
        newContacts: 0,
        externalIdMissing: [],
        missing: { subscription_ids: [], aliases: {} },
        ...inexact,
      };
    },
  });
const estimated = estimating();
const estimate = (members: Partial<EstimateAudience>) => estimated(app, { target: { all: true }, ...members });

const text = { contents: { en: "x" } };
const mail = { email_subject: "s", email_body: "b" };
const noAccount = { channel: "sms", reason: "not_configured", recipients: 4 };

describe("an estimate", () => {
  const cases: { it: string; members: Partial<EstimateAudience>; by_channel: object; skipped: object[] }[] = [
    {
      it: "a text does not reach mailboxes",
      members: text,
      by_channel: { ios_push: 2 },
      skipped: [{ channel: "email", reason: "no_content", recipients: 1 }, noAccount],
    },
    {
      it: "a mail does not reach devices",
      members: mail,
      by_channel: { email: 1 },
      skipped: [{ channel: "ios_push", reason: "no_content", recipients: 2 }, noAccount],
    },
    {
      it: "both together reach both",
      members: { ...text, ...mail },
      by_channel: { ios_push: 2, email: 1 },
      skipped: [noAccount],
    },
    {
      it: "members that ask for nothing are no content",
      members: { contents: {}, sms_media_urls: [], url: "", custom_data: {} },
      by_channel: { ios_push: 2, email: 1 },
      skipped: [noAccount],
    },
    {
      it: "channels that are named leave no other out",
      members: { ...text, target: { all: true, channels: ["ios_push"] } },
      by_channel: { ios_push: 2 },
      skipped: [],
    },
  ];
  for (const { it: name, members, by_channel, skipped } of cases)
    it(name, async () => {
      const { recipients, ...rest } = await estimate(members);
      expect(rest).to.deep.include({ by_channel, skipped_channels: skipped });
      expect(recipients).to.equal(Object.values(by_channel).reduce((sum, count) => sum + count, 0));
    });

  it("says when somebody was counted whose last count it is, and that nobody was where there is a bound only", async () => {
    const at = new Date("2026-06-15T12:00:00Z");
    const body = { target: { all: true, channels: ["ios_push" as const] } };
    const { recipients, ...last } = await estimating({ asOf: at })(app, body);
    expect({ recipients, ...last }).to.deep.include({ recipients: 2, is_exact: false, as_of: at.toISOString() });
    expect(last).not.to.have.property("upper_bound");
    for (const bound of [{ isUpperBound: true }, { isUpperBound: true, asOf: at }] as const)
      expect(await estimating(bound)(app, body)).to.deep.include({
        recipients: null,
        upper_bound: 2,
        is_exact: false,
        as_of: null,
      });
  });

  it("counts only the channels that are named", async () => {
    await estimate({ target: { all: true, channels: ["email"] } });
    expect(asked.at(-1)).to.deep.equal(["email"]);
  });

  for (const { it: name, members, field } of [
    { it: "a text of blanks", members: { contents: { en: " " } }, field: "contents.en" },
    { it: "a subtitle alone", members: { subtitle: { en: "x" } }, field: "contents" },
    {
      it: "a channel without content",
      members: { ...text, target: { all: true, channels: ["email" as const] } },
      field: "target.channels[0]",
    },
    { it: "a push that is too large", members: { contents: { en: "x".repeat(5_000) } }, field: "contents" },
    { it: "custom data", members: { ...text, custom_data: { a: 1 } }, field: "custom_data" },
    {
      it: "the height of a card",
      members: { ...text, rcs_card: { title: { en: "x" }, media_height: "TALL" as const } },
      field: "rcs_card.media_height",
    },
  ])
    it(`refuses ${name}, as a message is refused`, async () => {
      const error = await estimate(members).catch((reason: unknown) => reason);
      expect(error).to.have.nested.property("details.field", field);
    });
});
