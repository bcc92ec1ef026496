import { expect } from "chai";
import { userLimits } from "#core/schema/people/user.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aSubscription, seed } from "../../../support/rows/fixtures.ts";

const hex = (digit: string) => digit.repeat(64);

describe("people and their subscriptions, by whatever names them", () => {
  const { site, tenant } = useSharedSite();

  const call = (method: string, path: string, body?: object) =>
    site.api.call(method, `/v1/apps/${tenant.app._id}${path}`, {
      token: tenant.token,
      ...(body !== undefined && { body }),
    });
  const upsert = (body: object) => call("POST", "/users", body);

  describe("the ids of a user", () => {
    it("are shown, changed and taken away one by one", async () => {
      const { body: user } = await upsert({ external_id: "i1", aliases: { crm: "i1", shop: "i1" } });
      const shown = await call("GET", "/users/by/crm/i1/identity");
      expect(shown.body).to.deep.equal({ user_id: user.id, external_id: "i1", aliases: { crm: "i1", shop: "i1" } });
      const changed = await call("PATCH", "/users/by/crm/i1/identity", { aliases: { crm: "i2", shop: null } });
      expect(changed.body).to.deep.equal({ user_id: user.id, external_id: "i1", aliases: { crm: "i2" } });
      const without = await call("DELETE", "/users/by/crm/i2/identity/external_id");
      expect(without.body).to.deep.equal({ user_id: user.id, external_id: null, aliases: { crm: "i2" } });
      expect((await call("GET", "/users/by/external_id/i1")).status).to.equal(404);
    });

    it("stay another's", async () => {
      await upsert({ external_id: "i3" });
      await upsert({ external_id: "i4" });
      const { status, body } = await call("PATCH", "/users/by/external_id/i4/identity", { external_id: "i3" });
      expect([status, body.error.code]).to.deep.equal([409, "HS_ALIAS_CLAIMED"]);
    });

    for (const label of ["user_id", "till", "constructor"]) {
      it(`are 404 where there is none to take away: ${label}`, async () => {
        await upsert({ external_id: "i5" });
        const { status, body } = await call("DELETE", `/users/by/external_id/i5/identity/${label}`);
        expect([status, body.error.details["resource"]]).to.deep.equal([404, "alias"]);
      });
    }

    it("are nothing else: tags are refused", async () => {
      await upsert({ external_id: "i6" });
      const { status, body } = await call("PATCH", "/users/by/external_id/i6/identity", { tags: { a: "1" } });
      expect([status, body.error.details["field"]]).to.deep.equal([400, "tags"]);
    });
  });

  describe("a token", () => {
    it("leads to its subscription, in each spelling that the channel admits", async () => {
      const email = { channel: "email", token: "token@example.com" };
      const { body } = await upsert({ external_id: "t1", subscriptions: [email] });
      const id = body.subscriptions[0]?.id;
      for (const token of ["token%40example.com", "Token@Example.com"])
        expect((await call("GET", `/subscriptions_by_token/email/${token}`)).body.id).to.equal(id);
      const changed = await call("PATCH", "/subscriptions_by_token/email/token%40example.com", {
        status: "unsubscribed",
      });
      expect(changed.body).to.deep.include({ id, status: "unsubscribed" });
    });

    it("of a browser is a whole address", async () => {
      const token = "https://push.example.com/send/by-token-12345678";
      const web = {
        p256dh: Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString("base64url"),
        auth: Buffer.alloc(16, 2).toString("base64url"),
      };
      const { body } = await upsert({ external_id: "t2", subscriptions: [{ channel: "web_push", token, web }] });
      const found = await call("GET", `/subscriptions_by_token/web_push/${encodeURIComponent(token)}`);
      expect(found.body.id).to.equal(body.subscriptions[0]?.id);
    });

    for (const path of ["email/nobody%40example.com", "email/no-address", `ios_push/${hex("9")}`, "fax/1"]) {
      it(`that nobody has is 404: ${path.slice(0, 30)}`, async () => {
        const { status, body } = await call("GET", `/subscriptions_by_token/${path}`);
        expect([status, body.error.details["resource"]]).to.deep.equal([404, "subscription"]);
      });
    }
  });

  describe("a subscription that is given to another user", () => {
    const owner = (id: string | undefined, body: object) => call("PATCH", `/subscriptions/${id}/owner`, body);

    it("is theirs, and otherwise as it was", async () => {
      const device = { channel: "ios_push", token: hex("7"), language: "it", status: "unsubscribed" };
      const { body } = await upsert({ external_id: "o1", subscriptions: [device] });
      const other = await upsert({ external_id: "o2", aliases: { crm: "o2" } });
      const [before] = body.subscriptions;
      const moved = await owner(before?.id, { label: "crm", id: "o2" });
      const expected = { user_id: other.body.id, external_id: "o2", updated_at: moved.body["updated_at"] };
      expect(moved.body).to.deep.equal({ ...before, ...expected });
      expect((await call("GET", "/users/by/external_id/o1")).body.subscriptions).to.deep.equal([]);
    });

    it("stays where it is when it is theirs already", async () => {
      const { body } = await upsert({ external_id: "o3", subscriptions: [{ channel: "ios_push", token: hex("8") }] });
      const moved = await owner(body.subscriptions[0]?.id, { label: "external_id", id: "o3" });
      expect([moved.status, moved.body]).to.deep.equal([200, body.subscriptions[0]]);
    });

    it("stays where it is when nobody has the id, or the user has 20 that are good", async () => {
      const { body } = await upsert({ external_id: "o4", subscriptions: [{ channel: "ios_push", token: hex("6") }] });
      const { id } = body.subscriptions[0] ?? {};
      const unknown = await owner(id, { label: "external_id", id: "nobody" });
      expect([unknown.status, unknown.body.error.details["field"]]).to.deep.equal([400, "id"]);
      const full = await upsert({ external_id: "o5" });
      const of = { tenant_id: tenant.tenant._id, app_id: tenant.app._id, user_id: full.body.id };
      const theirs = Array.from({ length: userLimits.subscriptions }, () => aSubscription(of));
      await seed(site.db, { subscriptions: theirs });
      const refused = await owner(id, { label: "external_id", id: "o5" });
      expect([refused.status, refused.body.error.details["status"]]).to.deep.equal([409, "full"]);
      expect((await call("GET", `/subscriptions/${id}`)).body["external_id"]).to.equal("o4");
    });

    it("ends with one of those who ask for it at once", async () => {
      const { body } = await upsert({ external_id: "o6", subscriptions: [{ channel: "ios_push", token: hex("5") }] });
      const names = ["o7", "o8", "o9"];
      for (const name of names) await upsert({ external_id: name });
      const replies = await Promise.all(
        names.map((id) => owner(body.subscriptions[0]?.id, { label: "external_id", id })),
      );
      expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
      const users = await Promise.all(names.map((name) => call("GET", `/users/by/external_id/${name}`)));
      expect(users.filter((user) => user.body.subscriptions.length === 1)).to.have.length(1);
    });
  });
});
