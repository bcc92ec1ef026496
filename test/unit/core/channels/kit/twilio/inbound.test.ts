import { expect } from "chai";
import { said } from "#core/channels/kit/inbound.ts";
import { inboundIn } from "#core/channels/kit/twilio/inbound.ts";

const at = new Date("2026-11-22T12:00:00Z");
const sms = { MessageSid: "SM0123", From: "+14017122661", To: "+15558675310", NumMedia: "0" };
const of = (form: Record<string, string>) => inboundIn((name) => form[name] ?? "", at);
const media = "https://api.twilio.com/2010-04-01/Accounts/AC0/Messages/MM0/Media/ME";

describe("a message that Twilio hands over", () => {
  it("tells who wrote to which number", () => {
    expect(of({ ...sms, Body: "Ahoy!" })).to.deep.equal([
      {
        ...said("text", "Ahoy!"),
        providerId: "SM0123",
        rawId: null,
        address: "+14017122661",
        sender: "+15558675310",
        at,
        word: null,
        name: null,
        replyTo: null,
        isFromAd: false,
      },
    ]);
  });

  it("comes from RCS with its sender, a name and what it answers", () => {
    const form = {
      From: "rcs:+14017122661",
      To: "rcs:brand_xyz",
      ProfileName: "Ada",
      OriginalRepliedMessageSid: "SM9",
    };
    const [message] = of({ ...sms, ...form, ButtonPayload: "yes", ButtonText: "Yes, please" });
    expect(message).to.deep.include({
      ...said("button_reply", "Yes, please", { button: { id: "yes", title: "Yes, please" } }),
      address: "+14017122661",
      sender: "rcs:brand_xyz",
      name: "Ada",
      replyTo: "SM9",
    });
  });

  const contents: { it: string; form: Record<string, string>; becomes: object }[] = [
    {
      it: "a picture and a card, by MMS",
      form: {
        Body: "Look",
        NumMedia: "2",
        MediaUrl0: `${media}1`,
        MediaContentType0: "image/jpeg",
        MediaUrl1: `${media}2`,
        MediaContentType1: "text/x-vcard",
      },
      becomes: said("media", "Look", {
        media: [
          { type: "image", url: `${media}1`, id: null, filename: null, mimeType: "image/jpeg" },
          { type: "document", url: `${media}2`, id: null, filename: null, mimeType: "text/x-vcard" },
        ],
      }),
    },
    {
      it: "a row of a list",
      form: { ListId: "red", ListTitle: "Red" },
      becomes: said("list_reply", "Red", { button: { id: "red", title: "Red" } }),
    },
    {
      it: "a place",
      form: { Latitude: "51.5055", Longitude: "-0.0754", Address: "Tower Bridge Rd", Label: "Tower Bridge" },
      becomes: said("location", "Tower Bridge", {
        location: { latitude: 51.5055, longitude: -0.0754, name: "Tower Bridge", address: "Tower Bridge Rd" },
      }),
    },
    { it: "nothing that is known", form: {}, becomes: said("unsupported", null) },
    { it: "files that are none", form: { Body: "Hi", NumMedia: "many" }, becomes: said("text", "Hi") },
  ];
  for (const { it: what, form, becomes } of contents)
    it(`may be ${what}`, () => {
      expect(of({ ...sms, ...form })[0]).to.deep.include(becomes);
    });

  it("is left out from WhatsApp where the account is of another channel, and the other way round", () => {
    const form = { ...sms, From: "whatsapp:+14017122661", Body: "STOP" };
    expect(of(form)).to.deep.equal([]);
    expect(inboundIn((name) => (name === "MessageSid" ? "SM1" : ""), at, true)).to.deep.equal([]);
  });

  const onWhatsapp = (form: Record<string, string>) => {
    const all: Record<string, string> = { ...sms, To: "whatsapp:+15005550026", ProfileName: "Ada", ...form };
    return inboundIn((name) => all[name] ?? "", at, true);
  };

  it("comes from WhatsApp with a name, an advertisement and what was tapped", () => {
    const form = { From: "whatsapp:+14017122661", Body: "Red", ButtonText: "Red", ReferralSourceId: "1" };
    expect(onWhatsapp({ ...form, OriginalRepliedMessageSid: "SM9" })[0]).to.deep.include({
      ...said("button_reply", "Red", { button: { id: "Red", title: "Red" } }),
      address: "+14017122661",
      sender: "+15005550026",
      name: "Ada",
      replyTo: "SM9",
      isFromAd: true,
    });
  });

  it("is left out when WhatsApp keeps its number from us", () => {
    expect(onWhatsapp({ From: "whatsapp:ada.lovelace", Body: "Hello" })).to.deep.equal([]);
  });

  it("has at most thirty files", () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`MediaUrl${n}`, `${media}${n}`]));
    expect(of({ ...sms, NumMedia: "1000000", ...many })[0]?.media).to.have.length(30);
  });
});
