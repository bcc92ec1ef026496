import { expect } from "chai";
import { shortCode } from "#core/channels/sms/links.ts";
import type { SmsText } from "#core/channels/sms/render.ts";
import type { Outcome } from "#core/domain/messages/outcome.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import type { LinkRow } from "#core/storage/links/links.ts";
import { withShortLinks } from "../../../../../dispatcher/channels/sms/short-links.ts";

const now = new Date("2026-11-22T12:00:00Z");

const sent = async (content: Content, keep?: (row: LinkRow) => Promise<void>) => {
  const rows: LinkRow[] = [];
  const messages: SmsText[] = [];
  const account = withShortLinks(
    {
      app: { appId: "app_1", tenantId: "ten_1" },
      urlOf: (code) => `https://h.example/l/${code}`,
      keep: keep ?? (async (row) => void rows.push(row)),
      clock: { now: () => now },
    },
    {
      name: "twilio",
      send: async (message): Promise<Outcome> => {
        messages.push(message);
        return { kind: "sent", providerId: "SM1" };
      },
      check: async () => ({ kind: "sent", providerId: null }),
      close: async () => undefined,
    },
  );
  const send = account.prepare({ messageId: "msg_1", content, options: {}, language: "en", ttlSeconds: 600 });
  const to = (n: number) => ({ deliveryId: `dlv_${n}`, subscriptionId: `sub_${n}`, address: "+4915112345678" });
  const outcomes = [];
  for (const n of [1, 2]) outcomes.push(await send(to(n), new AbortController().signal, () => false));
  return { rows, texts: messages.map(({ text }) => text), outcomes };
};

describe("the links of a text message", () => {
  const content = { contents: { en: "See https://shop.example/orders/4711?utm_source=sms." } };

  it("become short ones, another for each recipient, which are stored first", async () => {
    const { rows, texts } = await sent(content);
    const codes = [shortCode("dlv_1", 0), shortCode("dlv_2", 0)];
    expect(texts).to.deep.equal(codes.map((code) => `See https://h.example/l/${code}.`));
    expect(rows).to.deep.equal(
      codes.map((_id, n) => ({
        _id,
        tenant_id: "ten_1",
        app_id: "app_1",
        message_id: "msg_1",
        delivery_id: `dlv_${n + 1}`,
        url: "https://shop.example/orders/4711?utm_source=sms",
        created_at: now,
      })),
    );
  });

  it("stay as they are when the message asks for it", async () => {
    const { rows, texts } = await sent({ ...content, disable_sms_link_shortening: true });
    expect(rows).to.deep.equal([]);
    expect(texts[0]).to.equal(content.contents.en);
  });

  it("count with their short form in the segments, which the outcome has", async () => {
    const long = `${"a".repeat(120)} https://shop.example/${"x".repeat(200)}`; // 342 characters, short: 152
    expect((await sent({ contents: { en: long } })).outcomes[0]).to.deep.equal({
      kind: "sent",
      providerId: "SM1",
      segments: 1,
    });
    const { outcomes } = await sent({ contents: { en: long }, disable_sms_link_shortening: true });
    expect(outcomes[0]).to.include({ segments: 3 });
  });

  it("are counted in no segments with media", async () => {
    const { outcomes } = await sent({ ...content, sms_media_urls: ["https://shop.example/a.jpg"] });
    expect(outcomes[0]).to.deep.equal({ kind: "sent", providerId: "SM1" });
  });

  it("keep a message from being sent when they cannot be stored", async () => {
    const fails = sent(content, async () => {
      throw new Error("away");
    });
    expect(await fails.catch(({ message }: Error) => message)).to.equal("away");
  });

  it("leave an account as few places at once as its provider takes", () => {
    const provider = {
      name: "vonage",
      takes: { atOnce: 48 },
      send: async (): Promise<Outcome> => ({ kind: "sent", providerId: null }),
      check: async (): Promise<Outcome> => ({ kind: "sent", providerId: null }),
      close: async () => undefined,
    };
    const deps = { app: { appId: "app_1", tenantId: "ten_1" }, urlOf: String, keep: async () => undefined };
    expect(withShortLinks({ ...deps, clock: { now: () => now } }, provider).takes).to.deep.equal({ atOnce: 48 });
  });
});
