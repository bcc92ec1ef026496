import { expect } from "chai";
import { askedTogether } from "#core/storage/people/asked-together.ts";
import { aSubscription } from "../../../../support/rows/work.ts";

describe("subscriptions that are asked for together", () => {
  const rows = [
    aSubscription({ _id: "sub_1", app_id: "app_1", token: "a" }),
    aSubscription({ _id: "sub_2", app_id: "app_1", token: "b" }),
    aSubscription({ _id: "sub_3", app_id: "app_2", token: "a" }),
  ];
  const asked: [string, ...string[]][] = [];
  const ask = askedTogether({
    read: async ({ appId }, keys) => {
      asked.push([appId, ...keys]);
      return rows.filter((row) => row.app_id === appId && keys.includes(row.token));
    },
    keyOf: ({ token }) => token,
  });
  const of = (appId: string) => ({ tenantId: "ten_1", appId });

  it("share a query for each app, and are each their own app's", async () => {
    const found = await Promise.all([
      ask(of("app_1"), "a"),
      ask(of("app_2"), "a"),
      ask(of("app_1"), "b"),
      ask(of("app_2"), "b"),
      ask(of("app_1"), "a"),
    ]);
    expect(found.map((row) => row?._id ?? null)).to.deep.equal(["sub_1", "sub_3", "sub_2", null, "sub_1"]);
    expect(asked).to.deep.equal([
      ["app_1", "a", "b"],
      ["app_2", "a", "b"],
    ]);
  });
});
