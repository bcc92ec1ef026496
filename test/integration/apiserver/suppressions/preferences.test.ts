import { expect } from "chai";
import { linkAddress, linksPurpose } from "#core/channels/email/links.ts";
import { newId } from "#core/domain/ids.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type SuppressionRow, suppressionCollection } from "#core/storage/suppressions/suppressions.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aSubscription, aUser, seed, testKeyRing } from "../../../support/rows/fixtures.ts";
import { announcedMs, until } from "../../../support/until.ts";

describe("the page where people choose their mails", () => {
  const { site, tenant } = useSharedSite();
  const address = `chooser-${newId("user", new Date())}@example.com`.toLowerCase();
  let path: string;

  const rows = () => collectionOf<SuppressionRow>(site.db, suppressionCollection);
  const entry = () => rows().findOne({ app_id: tenant.app._id, address });
  const open = async (init: RequestInit = {}) => {
    const reply = await fetch(site.api.url + path, init);
    return { status: reply.status, headers: reply.headers, text: await reply.text() };
  };
  const choose = (...wanted: string[]) =>
    open({
      method: "POST",
      body: new URLSearchParams([
        ["form", "categories"],
        ...wanted.map((one) => ["category", one] as [string, string]),
      ]),
    });
  const change = (body: object) =>
    site.api.call("PATCH", `/v1/apps/${tenant.app._id}/settings`, { token: tenant.token, body });

  before(async () => {
    const of = { tenant_id: tenant.tenant._id, app_id: tenant.app._id };
    const user = aUser(of);
    const mail = aSubscription({ ...of, user_id: user._id, channel: "email", token: address });
    await seed(site.db, { users: [user], subscriptions: [mail] });
    const link = { appId: tenant.app._id, deliveryId: newId("delivery", new Date()), to: mail._id };
    path = linkAddress("", keyRing(testKeyRing).signer(linksPurpose), "u", link);
    const categories = [
      { category: "news", name: "News" },
      { category: "offers", name: "Offers" },
    ];
    expect((await change({ languages: ["de"], pages: { categories, colour: "#aa0000" } })).status).to.equal(200);
    await until(async () => (await open()).text.includes("Offers"), announcedMs); // it has heard of the change
  });
  after(() => change({ languages: null, pages: null }));

  it("is in the app's language and colour", async () => {
    const { status, headers, text } = await open();
    expect([status, headers.get("content-language")]).to.deep.equal([200, "de"]);
    expect(text).to.contain("--button: #aa0000").and.contain("E-Mails auswählen");
    expect(text.match(/ checked/g)).to.have.length(2);
    expect(await entry()).to.equal(null);
  });

  it("holds back what is not wanted, and lets it through again", async () => {
    expect((await choose("news")).text)
      .to.contain('value="offers">Offers')
      .and.contain("gespeichert");
    expect(await entry()).to.deep.include({ reason: "unsubscribe", source: "link", categories: ["offers"] });
    await choose();
    expect((await entry())?.categories?.toSorted()).to.deep.equal(["news", "offers"]);
    await choose("offers");
    expect(await entry()).to.deep.include({ categories: ["news"] });
    expect((await choose("news", "offers")).text.match(/ checked/g)).to.have.length(2);
    expect(await entry()).to.equal(null);
  });

  it("leaves what somebody else said of a category, and what holds all back", async () => {
    const add = (body: object) =>
      site.api.call("POST", `/v1/apps/${tenant.app._id}/suppressions`, {
        token: tenant.token,
        body: { channel: "email", address, ...body },
      });
    await add({ categories: ["news"], reason: "complaint" });
    await choose("news", "offers");
    expect(await entry()).to.deep.include({ reason: "complaint", categories: ["news"] });
    await add({ reason: "unsubscribe" });
    await choose("news", "offers");
    expect(await entry()).to.deep.include({ categories: null });
    expect((await open()).text).to.contain("zurzeit keine E-Mails");
  });

  it("does not exist under a link that was changed, and changes nothing then", async () => {
    const before = await entry();
    const real = path;
    path = real.replace(/\.[0-9a-f]/, (at) => (at === ".0" ? ".1" : ".0"));
    const replies = [await open(), await choose("news")];
    path = real;
    expect(replies.map(({ status }) => status)).to.deep.equal([404, 404]);
    expect(await entry()).to.deep.equal(before);
  });

  for (const { what, pages, field } of [
    { what: "a picture over http", pages: { logo_url: "http://cdn.test/a.png" }, field: "pages.logo_url" },
    { what: "a colour that is none", pages: { colour: "red; }" }, field: "pages.colour" },
    { what: "a language without texts", pages: { languages: ["xx"] }, field: "pages.languages[0]" },
    {
      what: "two names of one category",
      pages: { categories: ["a", "b"].map((name) => ({ category: "c", name })) },
      field: "pages.categories[1].name",
    },
    {
      what: "too many categories",
      pages: { categories: Array.from({ length: 21 }, (_, i) => ({ category: `c${i}`, name: "c" })) },
      field: "pages.categories",
    },
  ])
    it(`refuses ${what}`, async () => {
      const { status, body } = await change({ pages });
      expect([status, body.error?.details["field"]]).to.deep.equal([400, field]);
    });
});
