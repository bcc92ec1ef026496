import { expect } from "chai";
import { userRemoval } from "#core/storage/people/removal.ts";
import { aUser } from "../../../../support/rows/fixtures.ts";
import { aSubscription, noon } from "../../../../support/rows/work.ts";

describe("the removal of a person", () => {
  it("names them by every address that they tell others, and by no token of a device", () => {
    const user = aUser({ tenant_id: "ten_1", app_id: "app_1", external_id: "ada" });
    const owned = [
      aSubscription({ _id: "sub_1", channel: "email", token: "ada@example.com" }),
      aSubscription({ _id: "sub_2", channel: "whatsapp", token: "+4915112345678" }),
      aSubscription({ _id: "sub_3", channel: "ios_push" }),
    ];
    const { keys } = userRemoval(user, owned, noon);
    expect(keys).to.have.members([
      user._id,
      ...user.alias_keys,
      "sub_1",
      "sub_2",
      "sub_3",
      "email:ada@example.com",
      "phone:+4915112345678",
    ]);
  });
});
