import { expect } from "chai";
import { definitions } from "#core/channels/all.ts";
import { fitted } from "#core/channels/fitted.ts";
import type { Content } from "#core/schema/messages/notification.ts";

const aRendering = (content: Content, language: string | null = null) => ({
  messageId: `msg_${"0".repeat(26)}`,
  content,
  options: {},
  language,
  ttlSeconds: 60,
});
const fittedOf = (channel: keyof typeof limits, content: Content, language: string | null = null) => {
  const rendering = fitted(channel, aRendering(content, language));
  return { content: rendering.content, bytes: Buffer.byteLength(limits[channel].body(rendering)) };
};
const limits = {
  ios_push: definitions.ios_push.limit,
  android_push: definitions.android_push.limit,
  hms_push: definitions.hms_push.limit,
  web_push: definitions.web_push.limit,
};
type Limit = (typeof limits)["ios_push"];
const family = "👨‍👩‍👧‍👦"; // one character, 25 bytes

describe("a push that has to fit", () => {
  for (const [channel, { maxBytes }] of Object.entries(limits) as [keyof typeof limits, { maxBytes: number }][]) {
    it(`stays as it is on ${channel} while it fits`, () => {
      const content = { contents: { en: "x" }, data: { k: "v" } };
      expect(fittedOf(channel, content).content).to.equal(content);
    });

    it(`has its body cut on ${channel} to the last character that fits, with an ellipsis`, () => {
      const { content, bytes } = fittedOf(channel, { headings: { en: "Title" }, contents: { en: "é".repeat(4_000) } });
      expect(content.contents?.["en"]).to.match(/^é+…$/);
      expect(content.headings).to.deep.equal({ en: "Title" });
      expect(bytes).to.be.within(maxBytes - 1, maxBytes);
    });

    it(`is cut on ${channel} between characters as people see them`, () => {
      const { content, bytes } = fittedOf(channel, { contents: { en: family.repeat(400) } });
      const text = content.contents?.["en"] ?? "";
      expect(text.slice(0, -1)).to.equal(family.repeat(text.slice(0, -1).length / family.length));
      expect(bytes).to.be.within(maxBytes - 30, maxBytes);
    });
  }

  for (const [channel, { body, maxBytes }] of Object.entries(limits) as [keyof typeof limits, Limit][]) {
    const toMany = (recipients: number, text: string) =>
      body(fitted(channel, { ...aRendering({ contents: { en: text } }), recipients }));
    for (const [recipients, seconds] of [
      [999, null],
      [1_000, "1"],
      [12_345, "12"],
      [1_000_000, "20"],
    ] as const)
      it(`has ${recipients} people on ${channel} report that it came within ${seconds ?? 0} seconds`, () => {
        const [, within = null] = /report_within_s\W+(\d+)/.exec(toMany(recipients, "x")) ?? [];
        expect(within).to.equal(seconds);
      });

    it(`says nothing of that on ${channel} where it would be too much, and keeps its text`, () => {
      const perLetter = Buffer.byteLength(toMany(0, "xx")) - Buffer.byteLength(toMany(0, "x")); // some say it twice
      const room = maxBytes - Buffer.byteLength(toMany(0, "x"));
      const largest = "x".repeat(1 + Math.floor(room / perLetter));
      expect(toMany(5_000, largest)).to.equal(toMany(0, largest)).and.to.contain(largest);
    });
  }

  it("is cut in the recipient's language alone, and counts what JSON escapes", () => {
    const { content, bytes } = fittedOf("ios_push", { contents: { en: "short", de: '"'.repeat(4_000) } }, "de-AT");
    expect(content.contents?.["en"]).to.match(/^"+…$/);
    expect(bytes).to.be.within(4_095, 4_096);
  });

  it("loses its body, then of its subtitle, then of its title, never of its data", () => {
    const data = Object.fromEntries(Array.from({ length: 3 }, (_, n) => [`k${n}`, "d".repeat(1_000)]));
    const long = { en: "t".repeat(800) };
    const { content, bytes } = fittedOf("ios_push", { headings: long, subtitle: long, contents: long, data });
    expect(content).to.deep.include({ data, contents: { en: "…" } });
    expect(content.subtitle?.["en"]).to.match(/^t*…$/);
    expect(content.headings).to.deep.equal(long);
    expect(bytes).to.equal(4_096);
  });

  it("stays too large when its data alone is, for the provider to refuse", () => {
    const data = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`k${n}`, "d".repeat(1_000)]));
    expect(fittedOf("ios_push", { contents: { en: "Hello" }, data })).to.deep.include({
      content: { contents: { en: "…" }, data },
    });
  });

  it("is left alone where a channel has no limit", () => {
    const content = { email_subject: "s", email_body: "b".repeat(10_000) };
    expect(fitted("email", aRendering(content)).content).to.equal(content);
  });
});
