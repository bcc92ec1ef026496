import { expect } from "chai";
import { apnsBody, renderApns } from "#core/channels/ios-push/render.ts";
import { badgeChangeOf } from "#core/channels/kit/badge.ts";
import type { Rendering } from "#core/channels/kit/rendering.ts";

const aRendering = (content: Rendering["content"], rest: Partial<Rendering> = {}): Rendering => ({
  messageId: "msg_1",
  content,
  options: {},
  language: null,
  ttlSeconds: 60,
  ...rest,
});
const payload = (content: Rendering["content"], rest: Partial<Rendering> = {}) =>
  JSON.parse(apnsBody(renderApns(aRendering(content, rest)), "dlv_1"));

describe("renderApns", () => {
  it("chooses each text by the recipient's language, its base, English, then the first key", () => {
    const content = {
      headings: { en: "Hi", pt: "Oi" },
      contents: { de: "Hallo" },
      subtitle: { "pt-br": "Sub", en: "S" },
    };
    expect(payload(content, { language: "pt-BR" }).aps.alert).to.deep.equal({
      title: "Oi",
      subtitle: "Sub",
      body: "Hallo",
    });
    expect(payload(content, { language: "fr" }).aps.alert).to.deep.equal({ title: "Hi", subtitle: "S", body: "Hallo" });
  });

  const text = { contents: { en: "x" } };
  const aps: { it: string; content: Rendering["content"]; expect: Record<string, unknown> }[] = [
    { it: "plays the default sound with a text", content: text, expect: { sound: "default" } },
    { it: "plays a named sound", content: { ...text, ios_sound: "ping.caf" }, expect: { sound: "ping.caf" } },
    { it: "is silent with an empty sound name", content: { ...text, ios_sound: "" }, expect: { sound: undefined } },
    {
      it: "gives a critical alert its volume",
      content: { ...text, ios_interruption_level: "critical" },
      expect: { sound: { critical: 1, name: "default", volume: 1 }, "interruption-level": "critical" },
    },
    {
      it: "sets the badge",
      content: { ...text, ios_badge_type: "SetTo", ios_badge_count: 0 },
      expect: { badge: 0 },
    },
    {
      it: "leaves the badge alone with None",
      content: { ...text, ios_badge_type: "None", ios_badge_count: 5 },
      expect: { badge: undefined },
    },
    { it: "marks mutable content", content: { ...text, mutable_content: true }, expect: { "mutable-content": 1 } },
    {
      it: "starts the app in the background too",
      content: { ...text, content_available: true },
      expect: { "content-available": 1 },
    },
    {
      it: "names thread, category, target and relevance",
      content: {
        ...text,
        thread_id: "t",
        ios_category: "c",
        target_content_identifier: "w",
        ios_relevance_score: 0,
        ios_interruption_level: "time-sensitive",
      },
      expect: {
        "thread-id": "t",
        category: "c",
        "target-content-id": "w",
        "relevance-score": 0,
        "interruption-level": "time-sensitive",
      },
    },
  ];
  for (const { it: name, content, expect: wanted } of aps)
    it(name, () => {
      const rendered = payload(content).aps;
      for (const [member, value] of Object.entries(wanted)) expect(rendered[member]).to.deep.equal(value);
    });

  it("hands links, buttons, pictures, data and ids to the app", () => {
    const buttons = [{ id: "a", text: "A" }];
    const rendered = payload({
      ...text,
      url: "https://a.example/",
      app_url: "app://x",
      data: { k: "v" },
      buttons,
      big_picture: "https://a.example/p.png",
    });
    expect(rendered.aps["mutable-content"]).to.equal(1);
    expect(rendered.data).to.deep.equal({ k: "v" });
    expect(rendered.herald).to.deep.equal({
      delivery_id: "dlv_1",
      message_id: "msg_1",
      url: "https://a.example/",
      app_url: "app://x",
      buttons,
      attachments: { big_picture: "https://a.example/p.png" },
    });
  });

  it("carries the badge of each recipient when it is counted, also with nothing else to show", () => {
    for (const content of [text, {}, { ...text, data: { k: "v" } }]) {
      const push = renderApns(aRendering({ ...content, ios_badge_type: "Increase" }));
      const [first, second] = [12, 7].map((badge) => JSON.parse(apnsBody(push, "dlv_1", badge)));
      expect([first.aps.badge, second.aps.badge]).to.deep.equal([12, 7]);
      expect({ ...first.aps, badge: 7 }).to.deep.equal(second.aps);
      expect(first.herald.delivery_id).to.equal("dlv_1");
      expect(push).to.include({ pushType: "alert", priority: 10 });
    }
  });

  const changes: { content: Rendering["content"]; change: object | null }[] = [
    { content: {}, change: null },
    { content: { ios_badge_type: "None" }, change: null },
    { content: { ios_badge_count: 0 }, change: { set: 0 } },
    { content: { ios_badge_type: "SetTo", ios_badge_count: 4 }, change: { set: 4 } },
    { content: { ios_badge_type: "Increase" }, change: { add: 1 } },
    { content: { ios_badge_type: "Increase", ios_badge_count: 0 }, change: { add: 0 } },
  ];
  for (const { content, change } of changes)
    it(`changes the badge by ${JSON.stringify(change)} with ${JSON.stringify(content)}`, () => {
      expect(badgeChangeOf(content)).to.deep.equal(change);
    });

  it("prefers the attachments made for iOS", () => {
    const rendered = payload({
      ...text,
      ios_attachments: { v: "https://a.example/v.mp4" },
      big_picture: "https://a.example/p",
    });
    expect(rendered.herald.attachments).to.deep.equal({ v: "https://a.example/v.mp4" });
  });

  it("is a background push of priority 5, whatever was asked, when there is nothing to show", () => {
    const push = renderApns(aRendering({ content_available: true, data: { k: "v" } }, { options: { priority: 10 } }));
    expect(push).to.include({ pushType: "background", priority: 5 });
    expect(JSON.parse(apnsBody(push, "dlv_1")).aps).to.deep.equal({ "content-available": 1 });
  });

  it("carries priority, collapse id and ttl of a visible push", () => {
    const push = renderApns(aRendering(text, { options: { priority: 5, collapse_id: "c" }, ttlSeconds: 77 }));
    expect(push).to.include({ pushType: "alert", priority: 5, collapseId: "c", ttlSeconds: 77 });
    expect(renderApns(aRendering(text))).to.include({ priority: 10, collapseId: null });
  });

  const collapseIdOf = (id: string) => renderApns(aRendering(text, { options: { collapse_id: id } })).collapseId;

  it("leaves a collapse id as it is when a header can carry it", () => {
    const ids = ["c", "order 7", '~!@#$%^&*()_+ {}|:"<>?', "x".repeat(64)];
    expect(ids.map(collapseIdOf)).to.deep.equal(ids);
  });

  for (const id of ["Ж".repeat(20), "日本語", "é".repeat(64), "👍", "a\u0000b", "a\r\nb", "a\tb", " a", "a ", "\ud800"])
    it(`makes the collapse id ${JSON.stringify(id)} one that a header can carry, always the same`, () => {
      expect(collapseIdOf(id)).to.match(/^[A-Za-z0-9_-]{43}$/);
      expect(collapseIdOf(id)).to.equal(collapseIdOf(id));
      expect(collapseIdOf(id)).not.to.equal(collapseIdOf(`${id}.`));
    });
});
