import { expect } from "chai";
import { openAccount, shownAccounts } from "#core/channels/accounts.ts";
import { plainMail } from "../../../support/rows/fixtures.ts";

const ios_push = {
  team_id: "T",
  key_id: "K",
  bundle_id: "B",
  environment: "production",
  private_key: "sealed",
} as const;
const app = { _id: "app_1", channels: { ios_push } };

describe("an app's accounts", () => {
  it("are opened one by one, each secret for the place that it was sealed for", () => {
    const open = (sealed: string, context: string): string => `${sealed} at ${context}`;
    expect(openAccount(app, "ios_push", open)).to.deep.equal({
      ...ios_push,
      provider: "apns",
      private_key: "sealed at apps/app_1/ios_push.private_key",
    });
    expect(openAccount(app, "email", open)).to.equal(null);
  });

  it("are shown with their provider and without a secret, also not one within a member", () => {
    const dkim = { domain: "shop.test", selector: "s1", private_key: "sealed" };
    const email = {
      ...plainMail,
      host: "mail.shop.test",
      port: 587,
      security: "starttls",
      from_address: "news@shop.test",
      username: "shop",
      password: "sealed",
      dkim,
    } as const;
    const shown = shownAccounts({ email, ios_push });
    expect(shown.map(({ channel, provider }) => [channel, provider])).to.deep.equal([
      ["ios_push", "apns"],
      ["email", "smtp"],
    ]);
    expect(JSON.stringify(shown))
      .not.to.contain("sealed")
      .and.not.to.match(/private_key|password/);
    expect(shown[0]?.settings).to.include({ team_id: "T", key_id: "K", bundle_id: "B", environment: "production" });
    expect(shown[1]?.settings).to.deep.include({ username: "shop", port: 587 });
  });

  it("cannot be used when a secret cannot be opened", () => {
    const fail = (): never => {
      throw new Error("altered");
    };
    expect(() => openAccount(app, "ios_push", fail)).to.throw("altered");
  });
});
