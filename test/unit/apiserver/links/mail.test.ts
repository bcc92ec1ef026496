import { hash } from "node:crypto";
import { expect } from "chai";
import { type LinkKind, linkAddress } from "#core/channels/email/links.ts";
import type { Callback } from "#core/channels/kit/callbacks.ts";
import { ownReceipts } from "#core/channels/kit/own-receipts.ts";
import { derivedId } from "#core/domain/ids.ts";
import { signer } from "#core/domain/signer.ts";
import { NotFound, Unavailable } from "#core/errors.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { HeldBack } from "#core/storage/suppressions/preferences.ts";
import type { OutsideReply, OutsideRequest } from "../../../../apiserver/http/outside.ts";
import { readableOn } from "../../../../apiserver/links/people/style.ts";
import { opened, redirected } from "../../../../apiserver/links/tracked.ts";
import { type LeavingDeps, leaving } from "../../../../apiserver/links/unsubscribe.ts";

const aSubject = { channel: "email", subject: "s", key: "", address: null, externalId: null, userId: null } as const;
const at = new Date("2026-05-01T10:00:00Z");
const ours = signer([Buffer.alloc(32, 1)]);
const target = "https://shop.test/ä?a=1&b=2#c";
const subscriptionId = derivedId("subscription", "1");
const link = { appId: derivedId("app", "1"), deliveryId: derivedId("delivery", "1"), to: "" };
const anApp: AppRow = {
  _id: link.appId,
  tenant_id: "ten_1",
  name: "Shop & <Sons>",
  channels: {},
  channels_revision: 1,
  managed: null,
  created_at: at,
  updated_at: at,
};
const answers = { o: opened, c: redirected, u: leaving };

/** The path of a link, behind its kind. */
const tokenOf = (kind: LinkKind, to = { c: target, u: subscriptionId, o: "" }[kind], by = ours): string =>
  linkAddress("https://links.test", by, kind, { ...link, to })
    .split("/")
    .at(-1) ?? "";

type Called = Partial<Omit<OutsideRequest, "body" | "header">> & { body?: string; headers?: Record<string, string> };

describe("a link of a mail", () => {
  let kept: { of: object; callback: Callback }[];
  let deps: LeavingDeps;
  let app: AppRow;
  let wished: { wishes: Record<string, boolean>; source: string }[];
  let held: HeldBack;
  beforeEach(() => {
    kept = [];
    wished = [];
    held = { isAll: false, categories: ["news"] };
    app = anApp;
    deps = {
      signer: ours,
      app: async (_id) => (_id === link.appId ? app : null),
      contact: async (_app, id) => (id === subscriptionId ? { token: "ann@example.test", user_id: "usr_1" } : null),
      preferences: {
        ofContact: async (_of, { token }) => ({ ...aSubject, key: `email:${token}` }),
        heldBack: async () => held,
        set: async (_of, about, wishes, source) => {
          expect(about.key).to.equal("email:ann@example.test");
          wished.push({ wishes: Object.fromEntries(wishes), source });
        },
      },
      keep: async (of, callback) => void kept.push({ of, callback }),
      isFew: () => true,
      clock: { now: () => at },
      log: { warn: () => undefined },
    };
  });

  const call = (kind: LinkKind, { body = "", headers = {}, ...of }: Called = {}): Promise<OutsideReply> =>
    answers[kind](deps)({
      method: "GET",
      parts: [tokenOf(kind)],
      target: "",
      header: (name) => headers[name] ?? null,
      ip: "192.0.2.1",
      body: async () => Buffer.from(body),
      signal: new AbortController().signal,
      ...of,
    });
  /** What was recorded, as a dispatcher reads it. */
  const receipts = () => kept.flatMap(({ callback }) => ownReceipts.read(callback).receipts);
  const about = { deliveryId: link.deliveryId, providerId: null, address: null, at };

  it("leads to its target, and records the click", async () => {
    const { status, headers } = await call("c");
    expect({ status, to: headers["Location"] }).to.deep.equal({
      status: 302,
      to: "https://shop.test/%C3%A4?a=1&b=2#c",
    });
    expect(receipts()).to.deep.equal([{ ...about, kind: "clicked", machine: false, url: target, buttonId: null }]);
    expect(kept[0]?.of).to.deep.equal({ tenantId: "ten_1", appId: link.appId, provider: "own" });
  });

  it("has no other header than its target's, whatever the target is", async () => {
    const to = "https://shop.test/a\r\nSet-Cookie: b=c\n\u2028#d\r\n\r\ne";
    const { headers } = await call("c", { parts: [tokenOf("c", to)] });
    expect(headers["Location"]).to.match(/^https:\/\/shop\.test\/[\x21-\x7e]+$/);
  });

  it("is a picture that nobody keeps, and records that the mail was opened", async () => {
    const { status, headers, body } = await call("o", {
      parts: [`${tokenOf("o")}.gif`],
      headers: { "user-agent": "Thunderbird" },
    });
    expect(status).to.equal(200);
    expect(headers).to.include({ "Content-Type": "image/gif", "Cache-Control": "no-store, private" });
    expect(body.toString("latin1").slice(0, 10)).to.equal("GIF89a\x01\x00\x01\x00");
    expect(receipts()).to.deep.equal([{ ...about, kind: "opened", machine: false, userAgent: "Thunderbird" }]);
  });

  for (const [who, headers] of Object.entries({
    "Apple's Mail Privacy Protection": { "user-agent": "Mozilla/5.0" },
    "Gmail's proxy": {
      "user-agent": "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
    },
    "Yahoo's proxy": { "user-agent": "YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html" },
    "a browser that fetches ahead": { "user-agent": "Firefox", "sec-purpose": "prefetch" },
  }))
    it(`tells opens and clicks of ${who} from those of people`, async () => {
      await call("o", { headers });
      await call("c", { headers });
      expect(receipts().map((one) => "machine" in one && one.machine)).to.deep.equal([true, true]);
    });

  for (const { it: name, kind, of } of [
    {
      it: "with another target",
      kind: "c" as const,
      of: { parts: [tokenOf("c").replace(/[^.]+$/, "aHR0cHM6Ly9ldmlsLnRlc3Qv")] },
    },
    {
      it: "of another installation",
      kind: "c" as const,
      of: { parts: [tokenOf("c", target, signer([Buffer.alloc(32, 2)]))] },
    },
    { it: "of another kind", kind: "u" as const, of: { parts: [tokenOf("o")] } },
    { it: "to what is no address", kind: "c" as const, of: { parts: [tokenOf("c", "no address")] } },
    { it: "without a target", kind: "c" as const, of: { parts: [tokenOf("c", "")] } },
    { it: "with a longer path", kind: "o" as const, of: { parts: [tokenOf("o"), "more"] } },
    { it: "called by another method", kind: "c" as const, of: { method: "POST" } },
    { it: "without anything", kind: "u" as const, of: { parts: [""] } },
  ])
    it(`does not exist ${name}`, async () => {
      const error: unknown = await call(kind, of).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(NotFound);
      expect(kept).to.deep.equal([]);
    });

  it("records nothing when it is only looked at", async () => {
    for (const kind of ["o", "c", "u"] as const) await call(kind, { method: "HEAD" });
    expect(kept).to.deep.equal([]);
  });

  it("goes on working, unrecorded, for a delivery with too many requests, and for an app that is gone", async () => {
    deps.isFew = () => false;
    expect((await call("c")).status).to.equal(302);
    deps = { ...deps, isFew: () => true, app: async () => null };
    expect((await call("c")).status).to.equal(302);
    expect((await call("o")).status).to.equal(200);
    expect(kept).to.deep.equal([]);
  });

  it("goes on working while nothing can be recorded", async () => {
    deps.keep = () => Promise.reject(new Unavailable("the queue"));
    expect((await call("c")).status).to.equal(302);
    deps.keep = () => new Promise(() => undefined);
    expect((await call("o")).status).to.equal(200);
    deps.app = () => Promise.reject(new Unavailable("MongoDB"));
    expect((await call("c")).status).to.equal(302);
  });

  describe("for unsubscribing", () => {
    it("shows a page with a button, and changes nothing", async () => {
      const { status, headers, body } = await call("u");
      expect(status).to.equal(200);
      expect(body).to.contain('<form method="post"><button type="submit">Unsubscribe</button></form>');
      expect(headers["Content-Security-Policy"]).to.contain("default-src 'none'").and.contain("frame-ancestors 'none'");
      expect(kept).to.deep.equal([]);
    });

    it("names the sender as text, and runs no script", async () => {
      const { body } = await call("u");
      expect(body)
        .to.contain("a•••@example.test will get no more mails from Shop &amp; &lt;Sons&gt;.")
        .and.not.contain("<script");
      expect(body).to.contain("prefers-color-scheme: dark");
    });

    for (const { it: name, body, source } of [
      { it: "by one click", body: "List-Unsubscribe=One-Click", source: "one_click" },
      {
        it: "by one click, in parts",
        body: '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n',
        source: "one_click",
      },
      { it: "by the page's button", body: "", source: "link" },
    ])
      it(`unsubscribes ${name}`, async () => {
        expect((await call("u", { method: "POST", body })).status).to.equal(200);
        const wish = { kind: "unsubscribed", source, reason: null, categories: null, address: "ann@example.test" };
        expect(receipts()).to.deep.equal([{ ...about, ...wish }]);
      });

    it("does not say that it is done when it could not be recorded", async () => {
      deps.keep = () => Promise.reject(new Unavailable("the queue"));
      const error: unknown = await call("u", { method: "POST" }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(Unavailable);
    });

    it("unsubscribes whose subscription is gone by their delivery", async () => {
      deps.contact = async () => null;
      expect((await call("u", { method: "POST" })).body).to.contain("You will get no more mails");
      expect(receipts()).to.have.nested.property("[0].address", null);
    });

    it("does not exist for an app that is gone", async () => {
      deps.app = async () => null;
      for (const method of ["GET", "POST"]) {
        expect(await call("u", { method }).catch((thrown: unknown) => thrown)).to.be.instanceOf(NotFound);
      }
    });
  });

  describe("for choosing categories", () => {
    const categories = [
      { category: "news", name: "News" },
      { category: "news", name: "Neuigkeiten", language: "de" },
      { category: "of<fers", name: "Offers" },
    ];
    beforeEach(() => {
      app = { ...anApp, languages: ["de", "en"], pages: { categories, colour: "#ffe000", name: "The Shop" } };
    });
    const post = (body: string) => call("u", { method: "POST", body, headers: { "accept-language": "en" } });

    it("shows which are wanted, in the reader's language, and changes nothing", async () => {
      const { body, headers } = await call("u", { headers: { "accept-language": "fr, en;q=0.2, de-AT;q=0.9" } });
      expect(headers).to.include({ "Content-Language": "de", Vary: "Accept-Language" });
      expect(body)
        .to.contain('<input type="checkbox" name="category" value="news">Neuigkeiten')
        .and.contain('value="of&lt;fers" checked>Offers')
        .and.contain("E-Mails von The Shop an a•••@example.test:")
        .and.contain('<html lang="de">');
      expect([kept, wished]).to.deep.equal([[], []]);
    });

    it("keeps the choice of those that the app offers, and of no other", async () => {
      const { status, body } = await post("form=categories&category=news&category=invoices");
      expect([status, body.toString().includes('role="status"')]).to.deep.equal([200, true]);
      expect(wished).to.deep.equal([{ wishes: { news: true, "of<fers": false }, source: "link" }]);
      expect(kept).to.deep.equal([]);
    });

    it("unsubscribes from all by its other button", async () => {
      await post("");
      expect(receipts().map(({ kind }) => kind)).to.deep.equal(["unsubscribed"]);
      expect(wished).to.deep.equal([]);
    });

    it("says that somebody gets nothing at present", async () => {
      held = { isAll: true, categories: [] };
      const { body } = await call("u", { headers: { "accept-language": "en" } });
      expect(body).to.contain("gets no mails from The Shop at present");
    });

    it("admits a style by its hash and a picture by its host alone", async () => {
      app = { ...app, pages: { logo_url: "https://cdn.test/a;b%0d%0aX: y.png" } };
      const { headers, body } = await call("u");
      const policy = headers["Content-Security-Policy"] ?? "";
      const [, style = ""] = /<style>([^]*)<\/style>/.exec(body.toString()) ?? [];
      expect(policy).to.contain(`style-src 'sha256-${hash("sha256", style, "base64")}'; img-src https://cdn.test;`);
      expect(policy).not.to.match(/unsafe|[\r\n]/);
    });

    for (const [colour, on] of [
      ["#ffe000", "#000"],
      ["#1f5fbf", "#fff"],
      ["#767676", "#000"],
    ] as const)
      it(`writes ${on} on ${colour}`, () => expect(readableOn(colour)).to.equal(on));
  });
});
