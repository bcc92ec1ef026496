import { expect } from "chai";
import { openAccount } from "#core/channels/accounts.ts";

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

  it("cannot be used when a secret cannot be opened", () => {
    const fail = (): never => {
      throw new Error("altered");
    };
    expect(() => openAccount(app, "ios_push", fail)).to.throw("altered");
  });
});
