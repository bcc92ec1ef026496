import { expect } from "chai";
import { renderEmail } from "#core/channels/email/render.ts";

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
    expect(renderEmail({ content })).to.deep.equal({
      subject: "Hi",
      html: "<p>Hello</p>",
      text: "Hello",
      fromName: "Shop",
      fromAddress: "shop@x.test",
      replyTo: "help@x.test",
    });
  });

  it("leaves senders to the account when the content names none", () => {
    const message = renderEmail({ content: { email_subject: "Hi", email_body: "x" } });
    expect(message).to.include({ fromName: null, fromAddress: null, replyTo: null });
  });

  it("hides the preheader at the top of the body, as text", () => {
    const { html } = renderEmail({ content: { email_body: body, email_preheader: 'Now <50% & "more"' } });
    expect(html).to.match(/^<html><BODY class="x"><div style="display:none;/);
    expect(html).to.contain("Now &lt;50% &amp; &quot;more&quot;");
  });

  it("puts the preheader first when there is no body element", () => {
    const { html } = renderEmail({ content: { email_body: "<p>Hello</p>", email_preheader: "Now" } });
    expect(html).to.match(/^<div style="display:none;.*<p>Hello<\/p>$/);
  });

  it("keeps the preheader out of the text alternative", () => {
    expect(renderEmail({ content: { email_body: body, email_preheader: "Now" } }).text).to.equal("Hello");
  });

  it("takes time in proportion to hostile bodies", () => {
    const started = performance.now();
    renderEmail({ content: { email_body: "<body".repeat(100_000), email_preheader: "x" } });
    expect(performance.now() - started).to.be.lessThan(2_000);
  });
});
