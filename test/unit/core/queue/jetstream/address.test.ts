import { expect } from "chai";
import { readNatsAddress } from "#core/queue/jetstream/address.ts";

describe("an address of NATS", () => {
  const cases = [
    { it: "may have no login", url: "nats://a:4222", is: { servers: ["nats://a:4222"] } },
    {
      it: "has its name and password taken out, since the client heeds none in addresses",
      url: "nats://herald:s3cret@a:4222",
      is: { servers: ["nats://a:4222"], user: "herald", pass: "s3cret" },
    },
    {
      it: "may name several servers, of which one says the login",
      url: "tls://a:4222, tls://herald:s3cret@b:4222",
      is: { servers: ["tls://a:4222", "tls://b:4222"], user: "herald", pass: "s3cret" },
    },
    {
      it: "may have percent-encoded characters in its login",
      url: "nats://her%40ld:a%3Ab%2Fc@[fd00::1]:4222",
      is: { servers: ["nats://[fd00::1]:4222"], user: "her@ld", pass: "a:b/c" },
    },
    {
      it: "is taken as it stands where its login has a percent sign or an @ that was not encoded",
      url: "nats://herald:100%@x@a",
      is: { servers: ["nats://a"], user: "herald", pass: "100%@x" },
    },
    { it: "may hold a token", url: "nats://t0ken@a", is: { servers: ["nats://a"], token: "t0ken" } },
  ];
  for (const { it: does, url, is } of cases) {
    it(does, () => {
      expect(readNatsAddress(url)).to.deep.equal(is);
    });
  }
});
