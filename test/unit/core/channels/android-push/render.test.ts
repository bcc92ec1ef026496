import { expect } from "chai";
import { fcmBody, renderFcm } from "#core/channels/android-push/render.ts";
import type { Rendering } from "#core/channels/kit/rendering.ts";

const render = (content: Rendering["content"], rest: Partial<Rendering> = {}) => {
  const push = renderFcm({ messageId: "msg_1", content, options: {}, language: null, ttlSeconds: 60, ...rest });
  const { message } = JSON.parse(fcmBody(push, 'to"ken', "dlv_1"));
  return { ...message, herald: JSON.parse(message.data.herald) };
};
const text = { contents: { en: "x" } };

describe("renderFcm", () => {
  it("addresses one token and shows the texts of the recipient's language", () => {
    const message = render({ headings: { de: "Titel", en: "Title" }, ...text }, { language: "de-AT" });
    expect(message.token).to.equal('to"ken');
    expect(message.notification).to.deep.equal({ title: "Titel", body: "x" });
  });

  it("uses every Android member that FCM has a place for", () => {
    const message = render(
      {
        ...text,
        android_channel_id: "news",
        small_icon: "ic",
        android_accent_color: "FF00aa11",
        android_sound: "ping",
        big_picture: "https://a.example/p.png",
        android_visibility: -1,
      },
      { options: { collapse_id: "c", priority: 5 }, ttlSeconds: 90 },
    );
    expect(message.android).to.deep.equal({
      collapse_key: "c",
      priority: "NORMAL",
      ttl: "90s",
      notification: {
        channel_id: "news",
        icon: "ic",
        color: "#00aa11",
        sound: "ping",
        tag: "c",
        image: "https://a.example/p.png",
        visibility: "SECRET",
      },
    });
  });

  for (const [visibility, name] of [
    [1, "PUBLIC"],
    [0, "PRIVATE"],
  ] as const)
    it(`shows visibility ${visibility} as ${name}`, () => {
      expect(render({ ...text, android_visibility: visibility }).android.notification.visibility).to.equal(name);
    });

  it("hands to the app what FCM has no place for, beside the sender's own data", () => {
    const buttons = [{ id: "a", text: 'say "hi"\u2028' }];
    const message = render({
      ...text,
      url: "https://a.example/",
      app_url: "app://x",
      subtitle: { en: "sub" },
      buttons,
      large_icon: "big",
      android_group: "g",
      data: { "1": "one", quoted: 'a "b" \\ c' },
    });
    expect(message.herald).to.deep.equal({
      delivery_id: "dlv_1",
      message_id: "msg_1",
      url: "https://a.example/",
      app_url: "app://x",
      subtitle: "sub",
      buttons,
      large_icon: "big",
      group: "g",
    });
    expect(message.data).to.include({ "1": "one", quoted: 'a "b" \\ c' });
  });

  it("is a data message of normal priority when there is no text", () => {
    const message = render({ content_available: true, data: { k: "v" } });
    expect(message.notification).to.equal(undefined);
    expect(message.android).to.deep.equal({ priority: "NORMAL", ttl: "60s" });
    expect(message.data.k).to.equal("v");
  });

  it("plays the default sound, and none when its name is empty", () => {
    expect(render(text).android.notification.sound).to.equal("default");
    expect(render({ ...text, android_sound: "" }).android.notification).not.to.have.property("sound");
  });
});
