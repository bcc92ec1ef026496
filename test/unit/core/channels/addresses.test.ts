import { expect } from "chai";
import { checkAddress, contactKey, maskAddress } from "#core/channels/addresses.ts";
import type { Channel, ContactChannel } from "#core/schema/vocabulary/channels.ts";

describe("checkAddress", () => {
  const cases: { channel: Channel; given: string; kept: string | null }[] = [
    { channel: "ios_push", given: "AB".repeat(32), kept: "ab".repeat(32) },
    { channel: "ios_push", given: "ab".repeat(100), kept: "ab".repeat(100) },
    { channel: "ios_push", given: "ab".repeat(31), kept: null },
    { channel: "ios_push", given: `${"ab".repeat(32)}g0`, kept: null },
    { channel: "android_push", given: "dQw4w9WgXcQ:APA91bH-x_y", kept: "dQw4w9WgXcQ:APA91bH-x_y" },
    { channel: "android_push", given: "short", kept: null },
    { channel: "hms_push", given: "0862767037246841300005665000CN01", kept: "0862767037246841300005665000CN01" },
    { channel: "hms_push", given: `AND${"mbp0-_".repeat(20)}`, kept: `AND${"mbp0-_".repeat(20)}` },
    { channel: "hms_push", given: 'a"b'.repeat(10), kept: null },
    { channel: "hms_push", given: "short", kept: null },
    { channel: "web_push", given: "https://push.example/a?b=1", kept: "https://push.example/a?b=1" },
    { channel: "web_push", given: "http://127.0.0.1:8080/a", kept: "http://127.0.0.1:8080/a" },
    { channel: "web_push", given: "http://localhost.example/a", kept: null },
    { channel: "web_push", given: "https://u:p@push.example/a", kept: null },
    { channel: "web_push", given: "javascript:alert(1)", kept: null },
    { channel: "email", given: "Anna+X@Example.COM", kept: "anna+x@example.com" },
    { channel: "email", given: "o'hara@example.co.uk", kept: "o'hara@example.co.uk" },
    { channel: "email", given: "jürgen@bücher.example", kept: "jürgen@xn--bcher-kva.example" },
    { channel: "email", given: "a@b", kept: null },
    { channel: "email", given: "@example.com", kept: null },
    { channel: "email", given: "a..b@example.com", kept: null },
    { channel: "email", given: "Anna <a@example.com>", kept: null },
    { channel: "email", given: `${"a".repeat(65)}@example.com`, kept: null },
    { channel: "email", given: "a@-x.example", kept: null },
    { channel: "email", given: "a\u0000@example.com", kept: null },
    { channel: "sms", given: " +49 (151) 123-456.78 ", kept: "+4915112345678" },
    { channel: "sms", given: "015112345678", kept: null },
    { channel: "rcs", given: "+4915112345678", kept: "+4915112345678" },
    { channel: "rcs", given: "+0915112345678", kept: null },
    { channel: "whatsapp", given: "+49 (151) 123-456.78", kept: "+4915112345678" },
    { channel: "whatsapp", given: "4915112345678", kept: null },
  ];
  for (const { channel, given, kept } of cases) {
    it(`${kept === null ? "refuses" : "keeps"} ${channel} ${given.slice(0, 40)}`, () => {
      const checked = checkAddress(channel, given);
      expect(checked.ok ? checked.address : null).to.equal(kept);
    });
  }
});

describe("contactKey", () => {
  const cases: { channel: ContactChannel; given: string; key: string | null }[] = [
    { channel: "email", given: " Anna@Bücher.example ", key: "email:anna@xn--bcher-kva.example" },
    { channel: "email", given: "+4915112345678", key: null },
    { channel: "sms", given: "+49 (151) 123-456.78", key: "phone:+4915112345678" },
    { channel: "whatsapp", given: "+4915112345678", key: "phone:+4915112345678" },
    { channel: "rcs", given: "+123456789012345", key: "phone:+123456789012345" },
    { channel: "rcs", given: "+1234567890123456", key: null },
    { channel: "sms", given: "015112345678", key: null },
    { channel: "sms", given: "+0151123456", key: null },
    { channel: "sms", given: "anna@example.com", key: null },
  ];
  for (const { channel, given, key } of cases) {
    it(`${key === null ? "refuses" : "knows a person by"} ${channel} ${given}`, () => {
      const checked = checkAddress(channel, given);
      expect(checked.ok ? contactKey(channel, checked.address) : null).to.equal(key);
    });
  }
});

describe("maskAddress", () => {
  const cases: { channel: Channel; address: string; shown: string }[] = [
    { channel: "ios_push", address: "ab".repeat(32), shown: "•••abababab" },
    { channel: "web_push", address: "https://push.example/secret12", shown: "•••secret12" },
    { channel: "email", address: "anna@example.com", shown: "a•••@example.com" },
    { channel: "email", address: "anna", shown: "•••" },
    { channel: "sms", address: "+4915112345678", shown: "+49•••678" },
    { channel: "whatsapp", address: "+4915", shown: "•••" },
    { channel: "hms_push", address: "ab".repeat(32), shown: "•••abababab" },
  ];
  for (const { channel, address, shown } of cases)
    it(`shows ${shown} of ${channel} ${address.slice(0, 20)}`, () =>
      expect(maskAddress(channel, address)).to.equal(shown));
});
