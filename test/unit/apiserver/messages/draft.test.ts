import { expect } from "chai";
import type { FallbackStep } from "#core/schema/messages/fallback.ts";
import type { CreateNotification } from "#core/schema/messages/notification.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import { draftOf } from "../../../../apiserver/messages/draft.ts";

const now = new Date("2026-03-01T12:00:00Z");
const draft = (members: Partial<CreateNotification>) => draftOf({ target: { all: true }, ...members }, now);

describe("draftOf", () => {
  for (const { it: name, members, channels } of [
    {
      it: "texts go over the pushes",
      members: { contents: { en: "x" } },
      channels: ["ios_push", "android_push", "hms_push", "web_push"],
    },
    {
      it: "headings alone too",
      members: { headings: { en: "x" } },
      channels: ["ios_push", "android_push", "hms_push", "web_push"],
    },
    {
      it: "data alone too",
      members: { data: { a: "b" } },
      channels: ["ios_push", "android_push", "hms_push", "web_push"],
    },
    {
      it: "a silent push too",
      members: { content_available: true },
      channels: ["ios_push", "android_push", "hms_push", "web_push"],
    },
    {
      it: "a subject and a body go over e-mail",
      members: { email_subject: "s", email_body: "b" },
      channels: ["email"],
    },
    {
      it: "empty texts too, when a push that shows nothing is asked for",
      members: { contents: { en: "" }, content_available: true },
      channels: ["ios_push", "android_push", "hms_push", "web_push"],
    },
    {
      it: "a title in a language without a text",
      members: { headings: { en: "t" }, contents: { de: "" } },
      channels: ["ios_push", "android_push", "hms_push", "web_push"],
    },
    {
      it: "empty texts do not matter to a mail",
      members: {
        contents: {},
        email_subject: "s",
        email_body: "b",
        target: { all: true, channels: ["email" as const] },
      },
      channels: ["email"],
    },
    {
      it: "a mail that is all in its subject",
      members: { email_subject: "s", email_body: "" },
      channels: ["email"],
    },
    {
      it: "a template of WhatsApp goes over WhatsApp, and texts alone only where it is asked for",
      members: { whatsapp_template: { name: "sale", language: "en" } },
      channels: ["whatsapp"],
    },
    {
      it: "a text goes over WhatsApp where it is asked for",
      members: { contents: { en: "x" }, target: { all: true, channels: ["whatsapp" as const] } },
      channels: ["whatsapp"],
    },
    {
      it: "both go over all",
      members: { contents: { en: "x" }, email_subject: "s", email_body: "b" },
      channels: ["ios_push", "android_push", "hms_push", "web_push", "email"],
    },
    {
      it: "a body beside a title of blanks",
      members: { headings: { en: " " }, contents: { en: "\u200bx" } },
      channels: ["ios_push", "android_push", "hms_push", "web_push"],
    },
    {
      it: "data beside texts in no language",
      members: { contents: {}, data: { a: "b" } },
      channels: ["ios_push", "android_push", "hms_push", "web_push"],
    },
    {
      it: "what asks for nothing adds no channel",
      members: {
        contents: { en: "x" },
        sms_media_urls: [],
        rcs_card: { title: {}, media_url: "" as const },
        rcs_suggestions: [],
        rcs_content_variables: {},
        rcs_fallback_text: {},
      },
      channels: ["ios_push", "android_push", "hms_push", "web_push"],
    },
    {
      it: "channels that are asked for are kept once each, in their order",
      members: {
        contents: { en: "x" },
        target: { all: true, channels: ["web_push" as const, "ios_push" as const, "web_push" as const] },
      },
      channels: ["web_push", "ios_push"],
    },
  ]) {
    it(name, () => expect(draft(members).channels).to.deep.equal(channels));
  }

  for (const { it: name, members, field } of [
    { it: "no content", members: {}, field: "contents" },
    { it: "a subject without a body", members: { email_subject: "s" }, field: "contents" },
    { it: "MJML without a subject", members: { email_mjml: "m" }, field: "contents" },
    { it: "a subtitle alone", members: { subtitle: { en: "x" } }, field: "contents" },
    { it: "texts in no language", members: { contents: {} }, field: "contents" },
    { it: "headings in no language", members: { headings: {} }, field: "contents" },
    { it: "an empty text", members: { contents: { en: "" } }, field: "contents.en" },
    { it: "a text that is empty in one language", members: { contents: { en: "x", de: "" } }, field: "contents.de" },
    { it: "a text of blanks", members: { contents: { en: " \n\t\u00a0" } }, field: "contents.en" },
    { it: "a text of no width", members: { contents: { en: "\u200b\ufeff\u2060\u00ad" } }, field: "contents.en" },
    { it: "a text of control characters", members: { contents: { en: "\u0007" } }, field: "contents.en" },
    { it: "a title of blanks alone", members: { headings: { en: "\u2003", de: "t" } }, field: "headings.en" },
    {
      it: "a mail of blanks",
      members: { email_subject: " ", email_body: "\n\u3000" },
      field: "email_body",
    },
    {
      it: "an SMS of no width",
      members: { contents: { en: "\u200b" }, target: { all: true, channels: ["sms" as const] } },
      field: "contents.en",
    },
    { it: "an empty title alone", members: { headings: { en: "" } }, field: "headings.en" },
    { it: "an empty text beside data", members: { contents: { en: "" }, data: { a: "b" } }, field: "contents.en" },
    {
      it: "the height of a card's picture, which no provider takes",
      members: { rcs_card: { title: { en: "t" }, media_height: "TALL" as const } },
      field: "rcs_card.media_height",
    },
    {
      it: "the orientation of a card, which no provider takes",
      members: { rcs_card: { title: { en: "t" }, orientation: "VERTICAL" as const } },
      field: "rcs_card.orientation",
    },
    {
      it: "a time of day without local time",
      members: { contents: { en: "x" }, delivery_time_of_day: "9:00" },
      field: "delivery_time_of_day",
    },
    {
      it: "a time of day in the best hour of each",
      members: { contents: { en: "x" }, delayed_option: "optimized" as const, delivery_time_of_day: "9:00" },
      field: "delivery_time_of_day",
    },
    {
      it: "a control where nothing is optimised",
      members: { contents: { en: "x" }, delayed_option: "timezone" as const, optimized_control_percent: 5 },
      field: "optimized_control_percent",
    },
    {
      it: "an empty text beside a mail, as pushes would go too",
      members: { contents: { en: "" }, email_subject: "s", email_body: "b" },
      field: "contents.en",
    },
    { it: "data without a member", members: { data: {} }, field: "contents" },
    { it: "a silent push that is not asked for", members: { content_available: false }, field: "contents" },
    {
      it: "a channel that only has empty data",
      members: { data: {}, target: { all: true, channels: ["web_push" as const] } },
      field: "target.channels[0]",
    },
    { it: "a mail without a word", members: { email_subject: "", email_body: "" }, field: "email_body" },
    {
      it: "a time too far back",
      members: { contents: { en: "x" }, send_after: "2026-02-28T11:59:59Z" },
      field: "send_after",
    },
    {
      it: "a time too far ahead",
      members: { contents: { en: "x" }, send_after: "2027-03-01T12:00:01Z" },
      field: "send_after",
    },
  ]) {
    it(`refuses ${name}, naming ${field}`, () => {
      expect(() => draft(members))
        .to.throw()
        .with.nested.property("details.field", field);
    });
  }

  const mail = { email_subject: "s", email_body: "b" };
  const step = (channel: Channel): FallbackStep => ({ channel, after_minutes: 60, if: "not_opened" });

  it("goes first over the channels with content that it does not fall back to", () => {
    const { channels, fallback } = draft({ contents: { en: "x" }, ...mail, fallback: [step("email"), step("sms")] });
    expect(channels).to.deep.equal(["ios_push", "android_push", "hms_push", "web_push"]);
    expect(fallback).to.deep.equal(["email", "sms"]);
  });

  const push = { all: true, channels: ["ios_push" as const] };
  for (const { it: name, members, message } of [
    {
      it: "one in a circle",
      members: { contents: { en: "x" }, target: push, fallback: [step("sms"), step("ios_push")] },
      message: "fallback[1].channel: makes a circle: ios_push, sms, ios_push",
    },
    {
      it: "one twice",
      members: { contents: { en: "x" }, target: push, fallback: [step("sms"), step("sms")] },
      message: "fallback[1].channel: makes a circle: sms, sms",
    },
    {
      it: "one to addresses that are sent to first",
      members: { contents: { en: "x" }, ...mail, target: { email_to: ["a@example.com"] }, fallback: [step("email")] },
      message: "fallback[0].channel: makes a circle: email, email",
    },
    {
      it: "one without content",
      members: { contents: { en: "x" }, target: push, fallback: [step("sms"), step("email")] },
      message: "fallback[1].channel: has no content in this message",
    },
    {
      it: "one behind nothing",
      members: { ...mail, fallback: [step("email")] },
      message: "fallback: leaves no channel with content to send to first",
    },
  ]) {
    it(`refuses of fallbacks ${name}`, () => {
      expect(() => draft(members)).to.throw(message);
    });
  }

  for (const { given, due } of [
    { given: "2026-03-01T13:00:00Z", due: "2026-03-01T13:00:00.000Z" },
    { given: "2026-03-01T13:00:00+02:00", due: null },
    { given: "2026-03-01T15:00:00+0200", due: "2026-03-01T13:00:00.000Z" },
    { given: "2026-03-01T15:00:00+02", due: "2026-03-01T13:00:00.000Z" },
    { given: "2026-03-01T13:00:00", due: "2026-03-01T13:00:00.000Z" },
    { given: "2026-03-01T12:00:00", due: null },
    { given: "2026-02-28T12:00:00Z", due: null },
    { given: "2027-03-01T12:00:00Z", due: "2027-03-01T12:00:00.000Z" },
  ]) {
    it(`is due at ${due ?? "once"} for send_after ${given}`, () => {
      expect(draft({ contents: { en: "x" }, send_after: given }).scheduledFor?.toISOString() ?? null).to.equal(due);
    });
  }

  it("has one fingerprint for one body, whatever its order and key", () => {
    const one = draft({ contents: { en: "x", de: "y" }, name: "n", idempotency_key: "a" });
    const same = draft({ name: "n", idempotency_key: "b", contents: { de: "y", en: "x" } });
    const other = draft({ contents: { en: "x", de: "z" }, name: "n" });
    expect(one.fingerprint).to.equal(same.fingerprint).and.not.equal(other.fingerprint);
  });
});
