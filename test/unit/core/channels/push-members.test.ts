import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { renderFcm } from "#core/channels/android-push/render.ts";
import { renderHms } from "#core/channels/hms-push/render.ts";
import { renderApns } from "#core/channels/ios-push/render.ts";
import type { Rendering } from "#core/channels/kit/rendering.ts";
import { renderWebPush } from "#core/channels/web-push/render.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import { rootDir } from "../../../../dev/files/paths.ts";
import { everyPushMember } from "../../../support/api/push-members.ts";

type Member = keyof typeof everyPushMember;

const renderers: Record<string, (rendering: Rendering) => unknown> = {
  ios_push: renderApns,
  android_push: renderFcm,
  hms_push: (rendering) => renderHms(rendering, "com.example.Main"),
  web_push: renderWebPush,
};

const page = readFileSync(join(rootDir, "docs/reference/channels.md"), "utf8");
const [, section = ""] = /^## Push content\n(.*?)^## /ms.exec(page) ?? [];
const [header = [], , ...rows] = section
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll(/^`|`$/g, "")),
  );
const table = new Map(rows.map(([member = "", ...cells]) => [member, cells]));

const rendered = (channel: string, content: Content): string =>
  JSON.stringify(
    renderers[channel]?.({ messageId: "msg_1", content, options: {}, language: null, ttlSeconds: 60 }) ?? expect.fail(),
  );

/** A message with this member, and with what it differs from. */
const withMember = (member: Member): Content => ({
  contents: { en: "Hello" },
  ...(member === "ios_badge_type" && { ios_badge_count: 0 }),
  [member]: everyPushMember[member],
});

const without = (content: Content, member: Member): Content =>
  Object.fromEntries(Object.entries(content).filter(([name]) => name !== member));

describe("the table of push content", () => {
  it("has each member, and no other", () => {
    expect([...table.keys()].sort()).to.deep.equal(Object.keys(everyPushMember).sort());
    expect(header.slice(1)).to.deep.equal(Object.keys(renderers));
  });

  for (const member of Object.keys(everyPushMember) as Member[])
    for (const [i, channel] of Object.keys(renderers).entries()) {
      const isUsed = table.get(member)?.[i] !== "–";
      it(`says rightly that ${channel} ${isUsed ? "uses" : "has no use for"} ${member}`, () => {
        const content = withMember(member);
        expect(rendered(channel, content) !== rendered(channel, without(content, member))).to.equal(isUsed);
      });
    }
});
