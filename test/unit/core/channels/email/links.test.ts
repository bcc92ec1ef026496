import { expect } from "chai";
import { type LinkKind, linkAddress, readLink } from "#core/channels/email/links.ts";
import { derivedId } from "#core/domain/ids.ts";
import { signer } from "#core/domain/signer.ts";

const [key, older] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const ours = signer([key]);
const link = {
  appId: derivedId("app", "1"),
  deliveryId: derivedId("delivery", "1"),
  to: "https://x.test/ä?a=1&b=2#c",
};

/** The last part of a link's path. */
const tokenOf = (kind: LinkKind, of = link, by = ours): string =>
  linkAddress("https://links.test", by, kind, of).split("/").at(-1) ?? "";

describe("a link of ours in a mail", () => {
  it("says its app, its delivery and its target", () => {
    expect(readLink(ours, "c", tokenOf("c"))).to.deep.equal(link);
    expect(readLink(ours, "o", tokenOf("o", { ...link, to: "" }))).to.deep.equal({ ...link, to: "" });
  });

  it("is an address that needs no escapes, wherever it stands", () => {
    expect(linkAddress("https://links.test", ours, "c", link)).to.match(/^https:\/\/links\.test\/c\/[\w.-]+$/);
  });

  it("is known as long as its key is in the ring", () => {
    const token = tokenOf("c", link, signer([older]));
    expect(readLink(signer([key, older]), "c", token)).to.deep.equal(link);
    expect(readLink(ours, "c", token)).to.equal(null);
  });

  const token = tokenOf("c");
  const [app = "", delivery = "", signature = ""] = token.split(".");
  const other = Buffer.from("https://evil.test/").toString("base64url");
  for (const { it: name, forged } of [
    { it: "another target", forged: [app, delivery, signature, other].join(".") },
    { it: "no target", forged: [app, delivery, signature].join(".") },
    { it: "another delivery", forged: token.replace(delivery, derivedId("delivery", "2")) },
    { it: "another app", forged: token.replace(app, derivedId("app", "2")) },
    { it: "a signature that is made up", forged: token.replace(signature, "0".repeat(30)) },
    { it: "a signature that is cut off", forged: token.replace(signature, signature.slice(0, 29)) },
    { it: "something behind it", forged: `${token}.x` },
    { it: "nothing", forged: "" },
    { it: "a target without end", forged: [app, delivery, signature, "A".repeat(10_000)].join(".") },
  ])
    it(`is not ours with ${name}`, () => expect(readLink(ours, "c", forged)).to.equal(null));

  it("does nothing else than what it was made for", () => {
    for (const kind of ["o", "u"] as const) {
      expect(readLink(ours, kind, tokenOf("c", { ...link, to: "" }))).to.equal(null);
      expect(readLink(ours, "c", tokenOf(kind, { ...link, to: "" }))).to.equal(null);
    }
  });
});
