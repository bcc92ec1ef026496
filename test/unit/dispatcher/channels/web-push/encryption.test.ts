import { expect } from "chai";
import { encryptWebPush } from "../../../../../dispatcher/channels/web-push/encryption.ts";

describe("web push encryption", () => {
  it("makes the message of RFC 8291's example", () => {
    const keys = {
      p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
      auth: "BTBZMqHH6r4Tts7J_aSIgg",
    };
    const message = encryptWebPush("When I grow up, I want to be a watermelon", keys, {
      privateKey: Buffer.from("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw", "base64url"),
      salt: Buffer.from("DGv6ra1nlYgDCS1FRnbzlw", "base64url"),
    });
    expect(message.toString("base64url")).to.equal(
      "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
    );
  });

  it("never uses a key or a salt twice", () => {
    const keys = {
      p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
      auth: "BTBZMqHH6r4Tts7J_aSIgg",
    };
    const heads = Array.from({ length: 50 }, () => encryptWebPush("x", keys));
    expect(new Set(heads.map((message) => message.subarray(0, 16).toString("hex"))).size).to.equal(50);
    expect(new Set(heads.map((message) => message.subarray(21, 86).toString("hex"))).size).to.equal(50);
  });

  it("has at most 4,096 bytes for the largest payload", () => {
    const keys = {
      p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
      auth: "BTBZMqHH6r4Tts7J_aSIgg",
    };
    expect(encryptWebPush("x".repeat(3993), keys).length).to.equal(4096);
  });
});
