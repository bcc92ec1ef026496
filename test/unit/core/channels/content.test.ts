import { expect } from "chai";
import { impossible, isReplaceable } from "#core/channels/content.ts";
import { apnsBody, renderApns } from "#core/channels/ios-push/render.ts";

const id = "0".repeat(30);
const bytesOf = (text: string): number =>
  Buffer.byteLength(
    apnsBody(
      renderApns({ messageId: id, content: { contents: { en: text } }, options: {}, language: null, ttlSeconds: 60 }),
      id,
    ),
  );

const withText = (text: string) => ({ content: { contents: { en: text } }, options: {} });

describe("impossible", () => {
  it("admits a payload of exactly 4,096 bytes and refuses one more", () => {
    const exactly = "x".repeat(4096 - bytesOf("x") + 1);
    expect(bytesOf(exactly)).to.equal(4096);
    expect(impossible(withText(exactly), ["ios_push"])).to.deep.equal([]);
    expect(impossible(withText(`${exactly}x`), ["ios_push"])).to.have.length(1);
  });

  it("finds the one language that is too long, counting bytes and not characters", () => {
    const content = { contents: { en: "short", ja: "長".repeat(1400) } };
    const [error] = impossible({ content, options: {} }, ["ios_push", "android_push"]);
    expect(error?.field).to.equal("contents");
    expect(error?.message).to.contain("in language ja");
  });

  it("says which channels cannot carry it", () => {
    const content = { contents: { en: "x".repeat(4500) } };
    const channels = ["ios_push", "android_push", "web_push"] as const;
    expect(impossible({ content, options: {} }, channels)).to.have.length(3);
    expect(impossible({ content, options: {} }, ["email"])).to.deep.equal([]);
  });

  it("refuses names of data that FCM keeps for itself, on Android only", () => {
    const message = { content: { data: { from: "a", "google.x": "b", fine: "c", herald: "d" } }, options: {} };
    const fields = impossible(message, ["android_push"]).map(({ field }) => field);
    expect(fields).to.deep.equal(["data.from", "data.google.x", "data.herald"]);
    expect(impossible(message, ["ios_push"])).to.deep.equal([]);
  });
});

describe("isReplaceable", () => {
  for (const channel of ["ios_push", "android_push", "hms_push", "web_push"] as const)
    it(`is so of a message over ${channel} with a collapse id`, () => {
      expect(isReplaceable(channel, { collapse_id: "order" })).to.equal(true);
      expect(isReplaceable(channel, {})).to.equal(false);
    });

  it("is not so of a mail", () => {
    expect(isReplaceable("email", { collapse_id: "order" })).to.equal(false);
  });
});
