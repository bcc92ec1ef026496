import { expect } from "chai";
import { isMachine, isMachineAgent } from "#core/channels/email/machines.ts";

describe("who fetches a mail's pictures and links", () => {
  const programs = [
    ["Apple's Mail Privacy Protection", "Mozilla/5.0"],
    ["Gmail", "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)"],
    ["Yahoo Mail", "YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html"],
    ["a robot", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"],
    ["a preview of Skype", "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5"],
    ["a preview of Facebook", "facebookexternalhit/1.1"],
  ] as const;
  for (const [who, userAgent] of programs)
    it(`is a program when it is ${who}`, () => {
      expect(isMachineAgent(userAgent)).to.equal(true);
      expect(isMachine((name) => (name === "user-agent" ? userAgent : null))).to.equal(true);
    });

  const people = [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.0",
    "Mozilla/5.0 (Linux; Android 14; CUBOT X70) AppleWebKit/537.36 Chrome/142.0.0.0 Mobile Safari/537.36",
    null,
  ];
  for (const userAgent of people)
    it(`is a person when it is ${userAgent?.slice(0, 60)}`, () => {
      expect(isMachineAgent(userAgent)).to.equal(false);
    });

  for (const name of ["sec-purpose", "purpose", "x-purpose"])
    it(`is a program when ${name} says that it fetches ahead`, () => {
      expect(isMachine((asked) => (asked === name ? "prefetch;anonymous-client-ip" : null))).to.equal(true);
    });
});
