import { expect } from "chai";
import { type EmailSettings, renderEmail } from "#core/channels/email/render.ts";
import { withAddresses } from "#core/channels/email/tracking.ts";
import type { Content, Options } from "#core/schema/messages/notification.ts";
import { cpuMs } from "../../../../support/until.ts";

const none: EmailSettings = { tracking: { opens: false, clicks: false }, transactionalCategories: [] };
const all: EmailSettings = { tracking: { opens: true, clicks: true }, transactionalCategories: ["receipts"] };

/** A mail as one recipient gets it. */
const mailOf = (content: Content, settings = none, said: { options?: Options; category?: string } = {}) => {
  const { html, text, ...rest } = renderEmail({ content, options: {}, ...said }, settings);
  const addressOf = (tracker: { kind: string; to?: string }): string => `(${tracker.kind} ${tracker.to ?? ""})`;
  return { ...rest, html: withAddresses(html, addressOf), text: withAddresses(text, addressOf) };
};

describe("a rendered mail", () => {
  const body = '<html><BODY class="x"><p>Hello</p></BODY></html>';

  it("has subject, body, text alternative and the senders of the content", () => {
    const content = {
      email_subject: "Hi",
      email_body: "<p>Hello</p>",
      email_from_name: "Shop",
      email_from_address: "shop@x.test",
      email_reply_to_address: "help@x.test",
    };
    expect(mailOf(content)).to.deep.equal({
      subject: "Hi",
      html: "<p>Hello</p>",
      text: "Hello",
      fromName: "Shop",
      fromAddress: "shop@x.test",
      replyTo: "help@x.test",
      isTransactional: false,
    });
  });

  it("leaves senders to the account when the content names none", () => {
    expect(mailOf({ email_subject: "Hi", email_body: "x" })).to.include({
      fromName: null,
      fromAddress: null,
      replyTo: null,
    });
  });

  it("hides the preheader at the top of the body, as text", () => {
    const { html } = mailOf({ email_body: body, email_preheader: 'Now <50% & "more"' });
    expect(html).to.match(/^<html><BODY class="x"><div style="display:none;/);
    expect(html).to.contain("Now &lt;50% &amp; &quot;more&quot;");
  });

  it("keeps what follows out of the list of mails, behind the preheader", () => {
    const { html } = mailOf({ email_body: body, email_preheader: "Now" });
    expect(html).to.match(/Now(&#847;&zwnj;&nbsp;){40}<\/div><p>Hello/);
  });

  it("puts the preheader first when there is no body element", () => {
    const { html } = mailOf({ email_body: "<p>Hello</p>", email_preheader: "Now" });
    expect(html).to.match(/^<div style="display:none;.*<p>Hello<\/p>$/);
  });

  for (const before of [
    '<html><body class="a>b">',
    "<html><body class = 'a>b' id=x>",
    "<!-- <body> --><html><body>",
    '<html><head><style>p:after{content:"<body>"}</style><title><body></title></head><body>',
    "<html><head><meta charset=utf-8><body\nid='x'>",
  ])
    it(`puts the preheader right behind ${JSON.stringify(before)}`, () => {
      const { html } = mailOf({ email_body: `${before}<p>Hello</p>`, email_preheader: "Now" });
      expect(html.slice(0, html.indexOf("<div"))).to.equal(before);
    });

  for (const body of ["<body-part>Hello</body-part>", '<body class="x>Hello', "</body>Hello"])
    it(`puts the preheader first of ${JSON.stringify(body)}, which has no body element`, () => {
      expect(mailOf({ email_body: body, email_preheader: "Now" }).html).to.match(/^<div style="display:none;/);
    });

  it("keeps the preheader out of the text alternative", () => {
    expect(mailOf({ email_body: body, email_preheader: "Now" }).text).to.equal("Hello");
  });

  it("tracks the links of body and text, and opens", () => {
    const { html, text } = mailOf({ email_body: '<a href="https://x.test/">Go</a>' }, all);
    expect(html).to.match(/^<a href="\(click https:\/\/x\.test\/\)">Go<\/a><img src="\(open \)" width="1" height="1"/);
    expect(text).to.equal("Go ((click https://x.test/))");
  });

  it("tracks opens, and no link, with disable_email_click_tracking", () => {
    const content = { email_body: '<a href="https://x.test/">Go</a>', disable_email_click_tracking: true };
    const { html, text } = mailOf(content, all);
    expect(html).to.match(/^<a href="https:\/\/x\.test\/">Go<\/a><img src="\(open \)"/);
    expect(text).to.equal("Go (https://x.test/)");
  });

  for (const { it: name, said, isTransactional } of [
    { it: "asks for the unsubscribed too", said: { options: { include_unsubscribed: true } }, isTransactional: true },
    { it: "is of such a category", said: { category: "receipts" }, isTransactional: true },
    { it: "is of another category", said: { category: "news" }, isTransactional: false },
    { it: "says nothing", said: {}, isTransactional: false },
  ])
    it(`${isTransactional ? "has to arrive" : "can be unsubscribed from"} when its message ${name}`, () => {
      expect(mailOf({ email_body: "x" }, all, said).isTransactional).to.equal(isTransactional);
    });

  it("takes time in proportion to hostile bodies", async () => {
    const mail = () => mailOf({ email_body: "<body".repeat(100_000), email_preheader: "x" }, all);
    expect(await cpuMs(mail)).to.be.lessThan(2_000);
  });
});
