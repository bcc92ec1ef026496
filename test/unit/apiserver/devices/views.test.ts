import { expect } from "chai";
import type { ClientPlatform } from "#core/schema/devices/subscription.ts";
import { configOf } from "../../../../apiserver/devices/views.ts";
import { anApp } from "../../../support/rows/fixtures.ts";

describe("the config of an app's clients", () => {
  const channels = [{ id: "goals", name: "Goals", importance: "high" as const }];
  const { channels: accounts, ...app } = anApp({ tenant_id: "ten_1", android_channels: channels });
  const web_push = { public_key: "BA" } as NonNullable<typeof accounts.web_push>; // what is read of it
  const shown = (platform: ClientPlatform | undefined) => {
    const { vapid_public_key, android_channels } = configOf(
      { ...app, channels: { ...accounts, web_push } },
      { platform, hasInApp: false },
    );
    return [vapid_public_key, android_channels];
  };

  it("has what is of one platform alone only for clients of that, and all for those that do not say", () => {
    expect(shown(undefined)).to.deep.equal(["BA", channels]);
    expect(shown("web")).to.deep.equal(["BA", []]);
    expect(shown("android")).to.deep.equal([null, channels]);
    expect(shown("huawei")).to.deep.equal([null, channels]);
    expect(shown("ios")).to.deep.equal([null, []]);
  });
});
