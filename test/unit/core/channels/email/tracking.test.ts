import { expect } from "chai";
import { type Tracked, type Tracker, trackedHtml, trackedText, withAddresses } from "#core/channels/email/tracking.ts";

const show = (tracked: Tracked): string =>
  withAddresses(tracked, (tracker: Tracker) => (tracker.kind === "click" ? `[${tracker.to}]` : "[open]"));

const clicks = { opens: false, clicks: true };

describe("the links of a mail", () => {
  for (const { it: name, html, shown } of [
    {
      it: "in double quotes",
      html: '<a class="b" href="https://x.test/">x</a>',
      shown: '<a class="b" href="[https://x.test/]">x</a>',
    },
    { it: "in single quotes", html: "<A HREF = 'http://x.test/'>x</A>", shown: "<A HREF = '[http://x.test/]'>x</A>" },
    { it: "without quotes", html: "<a href=https://x.test/?a>x</a>", shown: "<a href=[https://x.test/?a]>x</a>" },
    { it: "of an area", html: '<area href="https://x.test/">', shown: '<area href="[https://x.test/]">' },
    {
      it: "with entities, as what they stand for",
      html: '<a href="https://x.test/?a=1&amp;b=2">x</a>',
      shown: '<a href="[https://x.test/?a=1&b=2]">x</a>',
    },
    {
      it: "each for itself",
      html: '<a href="https://x.test/1">1</a> and <a href="https://x.test/2">2</a>.',
      shown: '<a href="[https://x.test/1]">1</a> and <a href="[https://x.test/2]">2</a>.',
    },
  ])
    it(`become ours ${name}`, () => expect(show(trackedHtml(html, clicks))).to.equal(shown));

  for (const { it: name, html } of [
    { it: "a mail address", html: '<a href="mailto:a@x.test">x</a>' },
    { it: "a phone number", html: '<a href="tel:+49">x</a>' },
    { it: "an anchor", html: '<a href="#top">x</a>' },
    { it: "a script", html: '<a href="javascript:alert(1)">x</a>' },
    { it: "a page for leaving", html: '<a href="https://x.test/Unsubscribe?u=1">x</a>' },
    { it: "another one", html: '<a href="https://x.test/opt-out">x</a>' },
    { it: "what asks for it", html: '<a href="https://x.test/" clicktracking="off">x</a>' },
    { it: "an address that is none", html: '<a href="https://">x</a>' },
    { it: "an address that is too long", html: `<a href="https://x.test/${"a".repeat(2_000)}">x</a>` },
    { it: "an attribute of another name", html: '<a data-href="https://x.test/">x</a>' },
    {
      it: "what is in a comment",
      html: '<!-- <a href="https://x.test/">x</a> --><!--[if mso]><a href="https://x.test/"><![endif]-->',
    },
    {
      it: "what is in a style or script",
      html: '<style>a{}<a href="https://x.test/"></style><script>"<a href=https://x.test/>"</script>',
    },
    { it: "a picture", html: '<img src="https://x.test/a.png"><link href="https://x.test/a.css">' },
  ])
    it(`stay as they are: ${name}`, () => {
      expect(show(trackedHtml(html, clicks))).to.equal(html);
      expect(show(trackedText(html, clicks))).not.to.contain("[");
    });

  it("lead to the same target in the text", () => {
    const html = '<p><a href="https://x.test/?a=1&amp;b=2">Go</a> <a href="mailto:a@x.test">write</a></p>';
    expect(show(trackedText(html, clicks))).to.equal("Go ([https://x.test/?a=1&b=2]) write (mailto:a@x.test)");
  });

  it("are in the order of the text, whatever is not closed", () => {
    const html = '<a href="https://x.test/1">1<a href="https://x.test/2">2</a> <a href="https://x.test/3">3</a>';
    expect(show(trackedText(html, clicks))).to.equal("12 ([https://x.test/2]) 3 ([https://x.test/3])");
  });

  it("stay as they are, all of them, when clicks are not wanted", () => {
    const html = '<a href="https://x.test/">x</a>';
    const none = { opens: false, clicks: false };
    expect(show(trackedHtml(html, none))).to.equal(html);
    expect(show(trackedText(html, none))).to.equal("x (https://x.test/)");
  });
});

describe("the picture of a mail", () => {
  const opens = { opens: true, clicks: true };

  it("stands at the end of the body", () => {
    const html = "<html><body><p>x</p></BODY ></html>";
    expect(show(trackedHtml(html, opens))).to.match(
      /^<html><body><p>x<\/p><img src="\[open\]"[^>]*><\/BODY ><\/html>$/,
    );
  });

  it("stands at the end of a text without a body, once, behind links", () => {
    const { trackers } = trackedHtml('<a href="https://x.test/">x</a>', opens);
    expect(trackers).to.deep.equal([{ kind: "click", to: "https://x.test/" }, { kind: "open" }]);
  });

  it("is not in the text alternative", () => {
    expect(show(trackedText("<p>x</p>", opens))).to.equal("x");
  });

  it("cannot be made up by a sender", () => {
    const html = '<img src="\0"><a href="\0">x</a>\0';
    expect(trackedHtml(html, clicks).trackers).to.deep.equal([]);
    expect(trackedText(html, clicks).trackers).to.deep.equal([]);
  });

  it("takes time in proportion to hostile input", () => {
    const hostile = ["<", "<a ", '<a href="', "<!--", "</body>", '<a href="https://x.test/">', "<img \0"];
    const before = process.threadCpuUsage();
    for (const piece of hostile) trackedHtml(piece.repeat(Math.ceil(500_000 / piece.length)), opens);
    const { user, system } = process.threadCpuUsage(before);
    expect(user + system, "µs").to.be.lessThan(10_000_000);
  });
});
