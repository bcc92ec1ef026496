import { expect } from "chai";
import { declarativeBody, maxWebPushBytes, renderWebPush, webPushBody } from "#core/channels/web-push/render.ts";
import type { Content, Options } from "#core/schema/messages/notification.ts";

const render = (content: Content, options: Options = {}, language: string | null = null) =>
  renderWebPush({ messageId: "msg_1", content, options, language, ttlSeconds: 60 });

describe("a rendered web push", () => {
  it("carries every web member under its own name, and the delivery's id", () => {
    const message = render(
      {
        headings: { en: "Title" },
        contents: { en: "Text" },
        url: "https://x.test/go",
        data: { order: "7" },
        chrome_web_icon: "https://x.test/i.png",
        chrome_web_image: "https://x.test/p.png",
        chrome_web_badge: "https://x.test/b.png",
        web_buttons: [{ id: "buy", text: "Buy", url: "https://x.test/buy" }],
        require_interaction: true,
      },
      { collapse_id: "order-7" },
    );
    expect(JSON.parse(webPushBody(message, "dlv_1"))).to.deep.equal({
      message_id: "msg_1",
      delivery_id: "dlv_1",
      title: "Title",
      body: "Text",
      icon: "https://x.test/i.png",
      image: "https://x.test/p.png",
      badge: "https://x.test/b.png",
      url: "https://x.test/go",
      data: { order: "7" },
      actions: [{ action: "buy", title: "Buy", url: "https://x.test/buy" }],
      require_interaction: true,
      tag: "order-7",
    });
  });

  describe("that is declarative", () => {
    const address = (id: string, to: string) => (to.startsWith("https:") ? `https://links.test/c/${id}/${to}` : null);
    const said = { headings: { en: "Title" }, contents: { en: "Text" }, url: "https://x.test/" };
    const body = (content: Content) => JSON.parse(declarativeBody(render(content), "dlv_1", address));

    it("is shown and followed without a script, over an address that counts the click", () => {
      const buttons = [
        { id: "a", text: "A", url: "https://x.test/a" },
        { id: "b", text: "B" },
      ];
      const { web_push, notification, ...rest } = body({ ...said, web_buttons: buttons });
      expect(web_push).to.equal(8030);
      expect(notification).to.deep.equal({
        title: "Title",
        body: "Text",
        navigate: "https://links.test/c/dlv_1/https://x.test/",
        actions: [
          { action: "a", title: "A", navigate: "https://links.test/c/dlv_1/https://x.test/a" },
          { action: "b", title: "B", navigate: "https://links.test/c/dlv_1/https://x.test/" },
        ],
      });
      expect(rest).to.include({ title: "Title", delivery_id: "dlv_1" });
    });

    it("has the text for a title where there is none", () => {
      expect(body({ contents: { en: "Text" }, url: "https://x.test/" }).notification).to.deep.equal({
        title: "Text",
        navigate: "https://links.test/c/dlv_1/https://x.test/",
      });
    });

    for (const { it: what, content } of [
      { it: "an address", content: { contents: { en: "Text" } } },
      { it: "an address that can be led to", content: { ...said, url: "app://x" } },
      { it: "room for both", content: { ...said, contents: { en: "x".repeat(maxWebPushBytes / 2) } } },
    ])
      it(`is not, without ${what}`, () => {
        const message = render(content);
        expect(declarativeBody(message, "dlv_1", address)).to.equal(webPushBody(message, "dlv_1"));
      });
  });

  it("makes actions of the buttons for all channels when there are none for browsers", () => {
    const buttons = [{ id: "a", text: "A" }];
    expect(render({ buttons }).payload.actions).to.containSubset([{ action: "a", title: "A" }]);
    expect(render({ buttons, web_buttons: [{ id: "b", text: "B" }] }).payload.actions).to.containSubset([
      { action: "b" },
    ]);
  });

  for (const [recipients, seconds] of [
    [999, undefined],
    [1_000, 1],
    [12_345, 12],
    [1_000_000, 20],
  ] as const)
    it(`has ${recipients} browsers report that it came within ${seconds ?? 0} seconds`, () => {
      const message = { messageId: "msg_1", content: { contents: { en: "x" }, url: "https://x.test/" }, options: {} };
      const push = renderWebPush({ ...message, language: null, ttlSeconds: 60, recipients });
      const address = () => "https://links.test/c/1";
      for (const body of [webPushBody(push, "dlv_1"), declarativeBody(push, "dlv_1", address)])
        expect(JSON.parse(body)["report_within_s"]).to.equal(seconds);
    });

  it("leaves out what the content does not say", () => {
    expect(JSON.parse(webPushBody(render({ contents: { en: "Text" } }), "dlv_1"))).to.have.all.keys(
      "message_id",
      "delivery_id",
      "body",
    );
  });

  const languages: { language: string | null; texts: Record<string, string>; chosen: string }[] = [
    { language: "pt-BR", texts: { en: "e", pt: "p", "pt-BR": "b" }, chosen: "b" },
    { language: "pt-BR", texts: { en: "e", pt: "p" }, chosen: "p" },
    { language: "PT-br", texts: { en: "e", "pt-BR": "b" }, chosen: "b" },
    { language: "fr", texts: { de: "d", en: "e" }, chosen: "e" },
    { language: null, texts: { de: "d", en: "e" }, chosen: "e" },
    { language: "fr", texts: { de: "d", it: "i" }, chosen: "d" },
  ];
  for (const { language, texts, chosen } of languages) {
    it(`speaks ${chosen} to ${language} when there is ${Object.keys(texts).join(", ")}`, () => {
      expect(render({ contents: texts }, {}, language).payload.body).to.equal(chosen);
    });
  }

  const urgencies: { options: Options; content: Content; urgency: string }[] = [
    { options: {}, content: {}, urgency: "high" },
    { options: { priority: 10 }, content: {}, urgency: "high" },
    { options: { priority: 5 }, content: {}, urgency: "normal" },
    { options: {}, content: { content_available: true }, urgency: "normal" },
  ];
  for (const { options, content, urgency } of urgencies) {
    it(`has urgency ${urgency} with ${JSON.stringify({ ...options, ...content })}`, () => {
      expect(render(content, options).urgency).to.equal(urgency);
    });
  }

  const topics: { it: string; content: Content; options: Options; topic: string | null }[] = [
    { it: "has no topic by itself", content: {}, options: {}, topic: null },
    {
      it: "takes the topic of the content first",
      content: { web_push_topic: "t" },
      options: { collapse_id: "c" },
      topic: "t",
    },
    { it: "else the collapse id", content: {}, options: { collapse_id: "c" }, topic: "c" },
  ];
  for (const { it: name, content, options, topic } of topics) {
    it(name, () => expect(render(content, options).topic).to.equal(topic));
  }

  it("turns a collapse id that is no topic into one, always the same", () => {
    const [first, again, other] = ["order 7", "order 7", "order 8"].map((id) => render({}, { collapse_id: id }).topic);
    expect(first).to.match(/^[A-Za-z0-9_-]{32}$/);
    expect(again).to.equal(first);
    expect(other).not.to.equal(first);
  });
});
