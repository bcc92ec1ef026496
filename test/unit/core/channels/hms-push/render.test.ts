import { expect } from "chai";
import { impossible } from "#core/channels/content.ts";
import { hmsBody, renderHms } from "#core/channels/hms-push/render.ts";
import type { Rendering } from "#core/channels/kit/rendering.ts";

type Given = Partial<Rendering> & { badgeClass?: string; badge?: number };

const render = (content: Rendering["content"], { badgeClass, badge, ...rest }: Given = {}) => {
  const rendering = { messageId: "msg_1", content, options: {}, language: null, ttlSeconds: 60, ...rest };
  const { message } = JSON.parse(
    hmsBody(renderHms(rendering, badgeClass ?? null), { tokens: ["one", "two"], tag: "dlv_1", badge }),
  );
  const data = JSON.parse(message.data);
  return { ...message, data, herald: JSON.parse(data.herald) };
};
const text = { headings: { en: "t" }, contents: { en: "x" } };
const shown = (content: object, given?: Given) => render({ ...text, ...content }, given).android.notification;

describe("renderHms", () => {
  it("addresses all tokens of a request and shows the texts of the recipient's language", () => {
    const message = render({ headings: { de: "Titel", en: "Title" }, contents: { en: "x" } }, { language: "de-AT" });
    expect(message.token).to.deep.equal(["one", "two"]);
    expect(message.notification).to.deep.equal({ title: "Titel", body: "x" });
  });

  it("uses every member that Push Kit has a place for", () => {
    const content = {
      subtitle: { en: "sub" },
      android_channel_id: "news",
      small_icon: "ic",
      android_accent_color: "FF00aa11",
      android_sound: "ping",
      android_group: "g",
      big_picture: "https://a.example/p.png",
      android_visibility: -1 as const,
      ios_badge_count: 120,
    };
    const { android } = render(
      { ...text, ...content },
      { options: { collapse_id: "c", priority: 5 }, ttlSeconds: 90, badgeClass: "com.example.Main" },
    );
    expect(android).to.deep.equal({
      collapse_key: -1,
      urgency: "NORMAL",
      ttl: "90s",
      bi_tag: "dlv_1",
      notification: {
        importance: "NORMAL",
        sound: "/raw/ping",
        click_action: { type: 3 },
        channel_id: "news",
        icon: "/raw/ic",
        color: "#00aa11",
        image: "https://a.example/p.png",
        notify_summary: "sub",
        group: "g",
        tag: "c",
        visibility: "SECRET",
        badge: { class: "com.example.Main", set_num: 99 },
      },
    });
  });

  it("hands to the app what Push Kit has no place for, beside the sender's own data", () => {
    const buttons = [{ id: "a", text: 'say "hi"' }];
    const content = { url: "https://a.example/", app_url: "app://x", buttons, large_icon: "big" };
    const message = render({ ...text, ...content, data: { "1": "one", quoted: 'a "b" \\ c' } });
    expect(message.herald).to.deep.equal({ message_id: "msg_1", ...content });
    expect(message.data).to.include({ "1": "one", quoted: 'a "b" \\ c' });
  });

  it("gives the title or the text twice where the other is missing, because Push Kit demands both", () => {
    expect(render({ contents: { en: "x" } }).notification).to.deep.equal({ title: "x", body: "x" });
    expect(render({ headings: { en: "t" } }).notification).to.deep.equal({ title: "t", body: "t" });
  });

  const clicks = [
    { it: "into the app", content: { app_url: "shop://orders/1?a=b#c" }, to: "shop" },
    { it: "by an intent as it is", content: { app_url: "intent://o#Intent;scheme=a;end" }, to: "intent" },
    { it: "to the address", content: { url: "https://a.example/" }, to: { type: 2, url: "https://a.example/" } },
    { it: "to the app where the address is not secure", content: { url: "http://a.example/" }, to: { type: 3 } },
  ];
  const intents: Record<string, string> = {
    shop: "intent://orders/1?a=b#c#Intent;scheme=shop;end",
    intent: "intent://o#Intent;scheme=a;end",
  };
  for (const { it: where, content, to } of clicks)
    it(`leads a click ${where}`, () => {
      const wanted = typeof to === "string" ? { type: 1, intent: intents[to] } : to;
      expect(shown(content).click_action).to.deep.equal(wanted);
    });

  it("plays the default sound, and none of low importance when its name is empty", () => {
    expect(shown({})).to.include({ importance: "NORMAL", default_sound: true }).and.not.have.property("sound");
    expect(shown({ android_sound: "" })).to.include({ importance: "LOW" });
  });

  it("draws the large icon where it is an address, before the picture", () => {
    const [icon, big_picture] = ["https://a.example/i.png", "https://a.example/p.png"];
    expect(shown({ large_icon: icon, big_picture }).image).to.equal(icon);
    expect(shown({ large_icon: "name", big_picture }).image).to.equal(big_picture);
    expect(shown({ big_picture: "http://a.example/p.png" })).not.to.have.property("image");
  });

  it("sets the badge that is counted, as far as Push Kit counts, and none without the app's class", () => {
    const adding = { ios_badge_type: "Increase" as const, ios_badge_count: 2 };
    const badgeOf = (badge: number) => shown(adding, { badgeClass: "a.B", badge }).badge;
    expect([badgeOf(7), badgeOf(100)]).to.deep.equal([
      { class: "a.B", set_num: 7 },
      { class: "a.B", set_num: 99 },
    ]);
    expect(shown(adding, { badge: 7 })).not.to.have.property("badge");
    expect(shown({ ios_badge_type: "None" }, { badgeClass: "a.B" })).not.to.have.property("badge");
  });

  for (const [priority, urgency] of [
    [undefined, "NORMAL"],
    [5, "NORMAL"],
    [10, "HIGH"],
  ] as const)
    it(`is a data message of urgency ${urgency} without text and with priority ${priority}`, () => {
      const options = priority === undefined ? {} : { priority };
      const message = render({ content_available: true, data: { k: "v" } }, { options });
      expect(message).not.to.have.property("notification");
      expect(message.android).to.deep.equal({ collapse_key: -1, urgency, ttl: "60s", bi_tag: "dlv_1" });
      expect(message.data.k).to.equal("v");
    });

  it("waits no longer than Push Kit does, and never no time at all", () => {
    expect(render(text, { ttlSeconds: 2_419_200 }).android.ttl).to.equal("1296000s");
    expect(render(text, { ttlSeconds: 0 }).android.ttl).to.equal("1s");
  });

  it("is impossible when its request would have more than 4,096 bytes without tokens", () => {
    const withData = (bytes: number) => ({ content: { ...text, data: { k: "x".repeat(bytes) } }, options: {} });
    expect(impossible(withData(3_500), ["hms_push"])).to.deep.equal([]);
    expect(impossible(withData(4_000), ["hms_push"])).to.have.length(1);
  });
});
