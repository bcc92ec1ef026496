import { expect } from "chai";
import { Type } from "typebox";
import {
  defineAccount,
  fromSecret,
  mapSecrets,
  resourceMember,
  secret,
  secretWith,
  storedMembers,
} from "#core/channels/kit/account.ts";
import { Closed, Nullable } from "#core/schema/json/common.ts";
import { structural } from "#core/schema/kubernetes/structural.ts";

/** An account of a channel that does not exist, with every kind of member. */
const { members, ...about } = defineAccount(
  {
    account_sid: Type.String({ description: "which account" }),
    sender_name: Nullable(Type.String({ maxLength: 11 })),
    public_half: fromSecret("key", (text) => text.slice(0, 1)),
    private_half: secret("key", (text) => text.slice(1)),
    password: secretWith("sender_name", "password"),
    proxy: Nullable(Closed({ host_name: Type.String(), token: secret("proxy_token") }, { description: "a way round" })),
  },
  { description: "an account", secretHolds: "`key`", secretGoesWith: ["senderName", "proxy"] },
);

const texts: Record<string, string> = { key: "ab", password: "p", proxy_token: "t" };
const read = (key: string, parse: (text: string) => string): string => parse(texts[key] ?? "");
const whole = { accountSid: "AC", senderName: "Shop", proxy: { hostName: "h" } };

describe("an account's schema", () => {
  it("gives the App resource what is not read from the Secret, in camel case", () => {
    const { properties, required, ...rest } = structural(resourceMember({ members, ...about })) as {
      properties: Record<string, { required?: string[]; properties?: object; description?: string }>;
      required: string[];
    };
    expect(Object.keys(properties)).to.deep.equal(["accountSid", "senderName", "proxy", "secretRef"]);
    expect(required).to.deep.equal(["accountSid"]);
    expect(properties["proxy"]).to.deep.include({ required: ["hostName"], description: "a way round" });
    expect(rest).to.deep.include({
      "x-kubernetes-validations": [
        {
          rule: "has(self.secretRef) == (has(self.senderName) || has(self.proxy))",
          message: "secretRef goes with senderName or proxy: both or neither",
        },
      ],
    });
  });

  it("makes what is stored of what a resource says and its Secret holds", () => {
    expect(storedMembers(members, whole, read)).to.deep.equal({
      account_sid: "AC",
      sender_name: "Shop",
      public_half: "a",
      private_half: "b",
      password: "p",
      proxy: { host_name: "h", token: "t" },
    });
  });

  it("stores null for what is left out, and reads no secret that goes with it", () => {
    const asked: string[] = [];
    const noting: typeof read = (key, parse) => {
      asked.push(key);
      return read(key, parse);
    };
    const stored = storedMembers(members, { accountSid: "AC" }, noting);
    expect(stored).to.include({ sender_name: null, password: null, proxy: null });
    expect(asked).to.deep.equal(["key", "key"]);
  });

  it("finds every secret by its place, and leaves the rest as it is", () => {
    const stored = storedMembers(members, whole, read);
    const places: string[] = [];
    const sealed = mapSecrets(members, stored, (text, place) => {
      places.push(place);
      return { sealed: text };
    });
    expect(places).to.deep.equal(["private_half", "password", "proxy.token"]);
    expect(sealed).to.deep.include({ public_half: "a", private_half: { sealed: "b" } });
    expect(mapSecrets(members, { ...stored, password: null, proxy: null }, () => "x")).to.include({
      password: null,
      proxy: null,
    });
  });
});
