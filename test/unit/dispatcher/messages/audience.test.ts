import { expect } from "chai";
import type { Stretch } from "#core/storage/people/subscription-counts.ts";
import { type AudienceDeps, nextPiece, resolvePieces } from "../../../../dispatcher/messages/audience.ts";
import { aMessage, aSubscription } from "../../../support/rows/work.ts";

const ids = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${prefix}${String(n).padStart(5, "0")}`);

/** An audience of plain lists, read as the index is read: in order, behind `after`. */
const over = (stretches: (Stretch & { ids: string[] })[]): AudienceDeps => ({
  page: async ({ channel, status, after, limit }) =>
    stretches
      .filter((stretch) => stretch.channel === channel && stretch.status === status)
      .flatMap((stretch) => stretch.ids)
      .filter((id) => id > after)
      .slice(0, limit),
  resolve: async () => new Map([["ios_push", ids("a", 1_201).map((_id) => aSubscription({ _id }))]]),
});

const everyPiece = async (deps: AudienceDeps, message: ReturnType<typeof aMessage>) => {
  const pieces = [];
  let piece = await nextPiece(deps, message, null);
  while (piece !== null && pieces.length < 100) {
    pieces.push(piece);
    piece = await nextPiece(deps, message, piece.scanned);
  }
  return pieces;
};

describe("the audience", () => {
  it("reads an audience to its end, everyone once, channel after channel", async () => {
    const ios = ids("a", 1_234);
    const android = ids("b", 501);
    const deps = over([
      { channel: "ios_push", status: "subscribed", ids: ios },
      { channel: "android_push", status: "subscribed", ids: android },
    ]);
    const pieces = await everyPiece(deps, aMessage({ channels: ["ios_push", "android_push"] }));
    expect(pieces.flatMap((piece) => piece.recipients)).to.deep.equal([...ios, ...android]);
    expect(pieces.map((piece) => piece.channel)).to.deep.equal([
      "ios_push",
      "ios_push",
      "ios_push",
      "android_push",
      "android_push",
    ]);
  });

  it("reads a channel without subscriptions as nothing", async () => {
    const deps = over([{ channel: "android_push", status: "subscribed", ids: ["b1"] }]);
    const pieces = await everyPiece(deps, aMessage({ channels: ["ios_push", "android_push"] }));
    expect(pieces.map((piece) => piece.recipients)).to.deep.equal([["b1"]]);
  });

  it("includes unsubscribed addresses of e-mail only, and only when asked to", async () => {
    const deps = over([
      { channel: "email", status: "subscribed", ids: ["e1"] },
      { channel: "email", status: "unsubscribed", ids: ["e2"] },
      { channel: "ios_push", status: "unsubscribed", ids: ["a1"] },
    ]);
    const channels = ["ios_push", "email"] as const;
    const reach = async (includeUnsubscribed: boolean) =>
      (
        await everyPiece(
          deps,
          aMessage({ channels: [...channels], options: { include_unsubscribed: includeUnsubscribed } }),
        )
      ).flatMap((piece) => piece.recipients);
    expect(await reach(false)).to.deep.equal(["e1"]);
    expect(await reach(true)).to.deep.equal(["e1", "e2"]);
  });

  it("cuts an audience of explicit ids into pieces of at most 500", async () => {
    const pieces = await resolvePieces(over([]), aMessage({ target: { include_subscription_ids: ["a"] } }));
    expect(pieces.map((piece) => piece.recipients.length)).to.deep.equal([500, 500, 201]);
  });
});
