import { expect } from "chai";
import { userLimits } from "#core/schema/people/user.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";

describe("a user who is written with subscriptions", () => {
  const { site, tenant } = useSharedSite();

  const call = (method: string, path: string, body?: object) =>
    site.api.call(method, `/v1/apps/${tenant.app._id}${path}`, { token: tenant.token, ...(body && { body }) });
  const upsert = (body: object) => call("POST", "/users", body);
  const emails = (count: number, name: string) =>
    Array.from({ length: count }, (_, n) => ({ channel: "email", token: `${name}${n}@example.com` }));

  it("stays as they were when they have no room for all their new subscriptions", async () => {
    const user = { external_id: "whole", tags: { step: "first" } };
    await upsert({ ...user, subscriptions: emails(userLimits.subscriptions - 1, "whole") });
    const refused = await upsert({ ...user, tags: { step: "second" }, subscriptions: emails(2, "more") });
    expect([refused.status, refused.body.error.details["status"]]).to.deep.equal([409, "full"]);
    const { body } = await call("GET", "/users/by/external_id/whole");
    expect([body.subscriptions.length, body["tags"]]).to.deep.equal([userLimits.subscriptions - 1, { step: "first" }]);
  });

  it("stays as they were when the rate of one of the subscriptions is used up, however it is spelled", async () => {
    let taken = -1;
    for (let n = 0; n < 100; n++) {
      const spelled = n % 2 === 0 ? "often@example.com" : "often@EXAMPLE.com";
      const subscriptions = [...emails(1, "seldom"), { channel: "email", token: spelled }].slice(n === 0 ? 0 : 1);
      const { status, body } = await upsert({ external_id: "often", tags: { step: String(n) }, subscriptions });
      if (status === 429) {
        expect(body.error.details).to.deep.include({ limit: 1, window_seconds: 1 });
        break;
      }
      taken = n;
    }
    expect(taken).to.be.within(8, 90);
    expect((await call("GET", "/users/by/external_id/often")).body["tags"]).to.deep.equal({ step: String(taken) });
  });
});
