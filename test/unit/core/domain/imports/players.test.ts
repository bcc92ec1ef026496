import { expect } from "chai";
import { csvReader } from "#core/domain/imports/csv.ts";
import { headerOf } from "#core/domain/imports/header.ts";
import { rowReader } from "#core/domain/imports/read-row.ts";
import type { ImportedRow } from "#core/domain/imports/row.ts";

const now = new Date("2026-11-23T12:00:00Z");
const token = "ab".repeat(32);

type Cells = Record<string, string>;
type Taken = Extract<ImportedRow, { kind: "row" }>;

/** Reads one row of a file with these columns. */
const read = (cells: Cells, huaweiAs: "android_push" | "hms_push" = "android_push"): ImportedRow => {
  const quoted = (texts: readonly string[]) => texts.map((one) => `"${one.replaceAll('"', '""')}"`).join(",");
  const reader = csvReader();
  const [names, row] = reader.read(`${quoted(Object.keys(cells))}\n${quoted(Object.values(cells))}\n`);
  const header = headerOf("thirdparty_players", names?.cells ?? []);
  if (!header.ok || row === undefined) throw new Error("no such file");
  return rowReader("thirdparty_players", header.columns, { huaweiAs })(row, now);
};

/** A row of an iPhone with these cells besides, that is taken. */
const taken = (cells: Cells, ...more: ("hms_push" | "android_push")[]): Taken => {
  const found = read({ external_user_id: "anna", identifier: token, device_type: "0", ...cells }, ...more);
  if (found.kind === "faulty") throw new Error(found.error);
  return found;
};

const address = (cells: Cells, ...more: ("hms_push" | "android_push")[]) => taken(cells, ...more).address;
const person = (cells: Cells) => taken(cells).person;

// The numbers are those of the list in docs/reference/imports.md#quirks.
describe("a row of the third-party system's export", () => {
  it("1: is anonymous without an external_user_id, if it has an address", () => {
    expect(read({ identifier: token, device_type: "0" })).to.deep.nested.include({ "person.externalId": null });
  });

  it("3: is read by the names of its columns, in any order and case", () => {
    const found = read({ Tags: "{}", DEVICE_TYPE: "11", External_User_Id: "anna", Identifier: "a@b.example" });
    expect(found).to.deep.nested.include({ "person.externalId": "anna", "address.channel": "email" });
  });

  const instants = [
    ["2018-10-26 08:48:42", "2018-10-26T08:48:42.000Z"],
    ["1540543722", "2018-10-26T08:48:42.000Z"],
    ["2018-10-26T10:48:42+02:00", "2018-10-26T08:48:42.000Z"],
    ["yesterday", undefined],
    ["9999-01-01 00:00:00", undefined],
  ] as const;
  for (const [cell, instant] of instants) {
    it(`4: takes ${cell} as an instant for ${instant ?? "none, and is kept"}`, () => {
      const found = taken({ last_active: cell, created_at: cell });
      expect(found.person?.lastActiveAt?.toISOString()).to.equal(instant);
      expect(found.person?.firstSeenAt?.toISOString()).to.equal(instant);
      expect(found.notes).to.have.length(instant === undefined ? 2 : 0);
    });
  }

  const zones = [
    ["-28800", "Etc/GMT+8"],
    ["3600", "Etc/GMT-1"],
    ["0", "Etc/GMT"],
    ["50400", "Etc/GMT-14"],
    ["19800", undefined, "timezone has parts of an hour, for which no zone stands"],
    ["54000", undefined, "timezone is no offset from UTC"],
    ["", undefined],
  ] as const;
  for (const [seconds, zone, ...notes] of zones) {
    it(`5: takes ${seconds || "no"} seconds from UTC for ${zone ?? "no zone"}`, () => {
      const found = taken({ timezone: seconds });
      expect([found.address?.device["timezone"], found.notes]).to.deep.equal([zone, notes]);
    });
  }

  it("5: takes the IANA name of a zone, where there is one that exists", () => {
    expect(address({ timezone: "3600", timezone_id: "Asia/Kolkata" })?.device).to.deep.equal({
      timezone: "Asia/Kolkata",
    });
    const wrong = taken({ timezone: "3600", timezone_id: "Mars/Base" });
    expect(wrong.address?.device).to.deep.equal({ timezone: "Etc/GMT-1" });
    expect(wrong.notes).to.deep.equal(["timezone_id is no time zone"]);
    expect(person({ timezone_id: "Asia/Kolkata" })?.timeZone).to.equal("Asia/Kolkata");
  });

  const channels = [
    ["0", "ios_push"],
    ["1", "android_push"],
    ["2", "android_push"],
    ["11", "email"],
    ["13", "android_push"],
    ["14", "sms"],
  ] as const;
  for (const [type, channel] of channels) {
    it(`gives device_type ${type} a subscription of ${channel}`, () => {
      expect(address({ device_type: type })?.channel).to.equal(channel);
    });
  }

  for (const type of ["5", "7", "8", "9", "10", "17"]) {
    it(`6, 20: takes the user of a browser (${type}), and says that its subscription cannot be moved`, () => {
      const found = taken({ device_type: type, web_auth: "x", web_p256: "y" });
      expect(found).to.deep.nested.include({ "person.externalId": "anna", address: null });
      expect(found.skipped).to.match(/browser/);
      expect(read({ identifier: "https://push.example", device_type: type })).to.include({ person: null });
    });
  }

  for (const type of ["3", "4", "6", "12", "15", "16", "", "x"]) {
    it(`7: takes the user of device_type ${type || "none"}, and says that it is unsupported`, () => {
      expect(taken({ device_type: type })).to.deep.nested.include({ "person.externalId": "anna", address: null });
      expect(taken({ device_type: type }).skipped).to.equal("unsupported device_type");
    });
  }

  it("8: warns of tokens that FCM does not take, unless the app has Huawei's as hms_push", () => {
    expect(taken({ device_type: "2" }).notes.join()).to.match(/Amazon's/);
    expect(taken({ device_type: "13" }).notes.join()).to.match(/Huawei's/);
    expect(taken({ device_type: "13" }, "hms_push")).to.deep.nested.include({
      "address.channel": "hms_push",
      notes: [],
    });
  });

  for (const [cell, status] of [
    ["t", "invalid"],
    ["true", "invalid"],
    ["1", "invalid"],
    ["f", null],
    ["0", null],
    ["", null],
  ] as const) {
    it(`9: takes ${cell || "nothing"} in invalid_identifier for ${status ?? "a good address"}`, () => {
      expect(address({ invalid_identifier: cell })?.status).to.equal(status);
    });
  }

  for (const [cell, status] of [
    ["1", null],
    ["0", null],
    ["", null],
    ["-2", "unsubscribed"],
    ["-99", "unsubscribed"],
    ["-10", "unsubscribed"],
    ["-30", "unsubscribed"],
  ] as const) {
    it(`10: takes ${cell || "nothing"} in notification_types for ${status ?? "no end"}`, () => {
      expect(address({ notification_types: cell })?.status).to.equal(status);
    });
  }

  it("11: is invalid rather than unsubscribed", () => {
    expect(address({ notification_types: "-2", invalid_identifier: "t" })?.status).to.equal("invalid");
  });

  it("12: has tags as text; a nested one is left out and noted", () => {
    const found = taken({ tags: '{"plan":"pro","age":41,"vip":true,"none":"","cart":{"a":1}}' });
    expect(found.person?.tags).to.deep.equal({ plan: "pro", age: "41", vip: "true" });
    expect(found.notes).to.deep.equal(['the tag "cart" is no text']);
    expect(taken({ tags: "{}" })).to.deep.nested.include({ "person.tags": {}, notes: [] });
    expect(taken({ tags: "not json" }).notes).to.have.length(1);
  });

  it("13: without an address is a user alone, or makes nothing", () => {
    expect(taken({ identifier: "" })).to.deep.nested.include({
      "person.externalId": "anna",
      address: null,
      skipped: null,
    });
    expect(read({ external_user_id: "", identifier: "", device_type: "0" })).to.include({
      person: null,
      skipped: "names neither a user nor an address",
    });
  });

  it("14: has a token of an iPhone without what a debugger puts around it", () => {
    expect(address({ identifier: `<${token.replaceAll(/(.{8})/g, "$1 ").trim()}>` })?.token).to.equal(token);
  });

  it("14: has what is no token at all as it stands, so that it is refused as one", () => {
    expect(address({ identifier: "zz-zz" })?.token).to.equal("zz-zz");
  });

  it("15: has mail addresses in lower case", () => {
    expect(address({ device_type: "11", identifier: "Anna@Example.COM" })?.token).to.equal("anna@example.com");
  });

  it("18: is read without the quote that keeps a spreadsheet from calculating", () => {
    expect(address({ device_type: "14", identifier: "'+4915112345678" })?.token).to.equal("+4915112345678");
    expect(person({ external_user_id: "'=1+1" })?.externalId).to.equal("=1+1");
    expect(person({ external_user_id: "'tis" })?.externalId).to.equal("'tis");
  });

  it("21: leaves addresses of networks, places and advertising ids where they are", () => {
    const found = JSON.stringify(taken({ ip: "192.0.2.77", location: "52.52,13.40", ad_id: "38400000-8cf0" }));
    for (const secret of ["192.0.2.77", "52.52", "38400000"]) expect(found).to.not.include(secret);
  });

  it("22: is faulty with a NUL, or with another number of cells than the header", () => {
    expect(read({ identifier: token, device_type: "0\0" })).to.deep.equal({
      kind: "faulty",
      error: "has the character U+0000",
    });
    const { columns } = headerOf("thirdparty_players", ["identifier", "device_type"]) as {
      columns: ReadonlyMap<string, number>;
    };
    const short = { line: 2, cells: ["x"], raw: "x", fault: null };
    expect(rowReader("thirdparty_players", columns, { huaweiAs: "hms_push" })(short, now)).to.deep.equal({
      kind: "faulty",
      error: "has 1 cells, the header has 2",
    });
  });

  it("keeps what it knows of the device and the language", () => {
    const cells = {
      device_model: "iPhone14,2",
      device_os: "17.1",
      game_version: "4.2",
      language: "zh_Hans",
      session_count: "7",
    };
    const found = taken(cells);
    expect(found.address?.device).to.deep.equal({
      model: "iPhone14,2",
      os_version: "17.1",
      app_version: "4.2",
      locale: "zh_Hans",
    });
    expect(found.person).to.deep.include({ language: "zh-Hans", properties: { language: "zh-Hans" }, sessions: 7 });
  });

  it("is faulty with an id that would merge strangers", () => {
    expect(read({ external_user_id: "null", identifier: token, device_type: "0" }).kind).to.equal("faulty");
  });
});
