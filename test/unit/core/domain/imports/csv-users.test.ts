import { expect } from "chai";
import { csvUserOf } from "#core/domain/imports/csv-users.ts";
import { headerOf } from "#core/domain/imports/header.ts";
import { cellsOf } from "#core/domain/imports/members.ts";
import type { ImportedRow } from "#core/domain/imports/row.ts";

const now = new Date("2026-11-23T12:00:00Z");

const read = (cells: Record<string, string>): ImportedRow => {
  const header = headerOf("csv_users", Object.keys(cells));
  if (!header.ok) throw new Error(header.problem);
  return csvUserOf(cellsOf(header.columns, Object.values(cells)), now);
};

const faults = [
  {
    it: "neither an external_id nor a token",
    cells: { external_id: "" },
    error: "external_id is required in a row without a token",
  },
  { it: "a token without a channel", cells: { channel: "", token: "x" }, error: "a token needs a channel" },
  {
    it: "a channel without a token",
    cells: { external_id: "a", channel: "email", token: "" },
    error: "a channel needs a token",
  },
  {
    it: "a status without a token",
    cells: { external_id: "a", channel: "", token: "", status: "invalid" },
    error: "a status needs a token",
  },
  {
    it: "web_push",
    cells: { channel: "web_push", token: "x" },
    error: "web_push cannot be imported: its subscriptions belong to the site's own key",
  },
  {
    it: "a status that there is not",
    cells: { channel: "email", token: "x", status: "gone" },
    error: "status must be one of subscribed, unsubscribed, invalid",
  },
  {
    it: "a zone that there is not",
    cells: { external_id: "a", timezone: "Mars/Base" },
    error: "timezone must be a name of the IANA time zone database",
  },
  {
    it: "tags that are no object",
    cells: { external_id: "a", tags: "[1]" },
    error: "tags is no JSON object that can be stored",
  },
  { it: "a nested tag", cells: { external_id: "a", tags: '{"a":{}}' }, error: 'the tag "a" is no text' },
  {
    it: "a NUL in a property",
    cells: { external_id: "a", properties: '{"a":{"b\\u0000":1}}' },
    error: "properties is no JSON object that can be stored",
  },
  {
    it: "a property of a name that cannot be one",
    cells: { external_id: "a", properties: '{"a.b":1}' },
    error: '"a.b" is no name of a tag or property',
  },
  { it: "a reserved id", cells: { external_id: "undefined" }, error: "external_id is too long, or a reserved value" },
  {
    it: "a time that is none",
    cells: { external_id: "a", last_active_at: "soon" },
    error: "last_active_at is no instant",
  },
];

describe("a row of csv_users", () => {
  it("says who, where and what", () => {
    const cells = {
      external_id: "anna",
      channel: "ios_push",
      token: "ab",
      status: "unsubscribed",
      language: "de",
      timezone: "Europe/Berlin",
    };
    const more = {
      tags: '{"plan":"pro","old":null}',
      "tag.City": "Köln",
      "tag.none": "",
      properties: '{"age":41}',
      "property.x": "y",
    };
    expect(read({ ...cells, ...more })).to.deep.equal({
      kind: "row",
      person: {
        externalId: "anna",
        tags: { plan: "pro", old: null, City: "Köln" },
        properties: { age: 41, x: "y", language: "de" },
        language: "de",
        timeZone: "Europe/Berlin",
        sessions: undefined,
        firstSeenAt: undefined,
        lastActiveAt: undefined,
      },
      address: { channel: "ios_push", token: "ab", status: "unsubscribed", device: { timezone: "Europe/Berlin" } },
      skipped: null,
      notes: [],
    });
  });

  it("leaves the status of an address open when it says none", () => {
    expect(read({ channel: "email", token: "a@b.example", status: "" })).to.deep.nested.include({
      "address.status": null,
    });
  });

  for (const { it: name, cells, error } of faults) {
    it(`is faulty with ${name}`, () => {
      expect(read(cells)).to.deep.equal({ kind: "faulty", error });
    });
  }
});

describe("the header of a file", () => {
  const headers = [
    { type: "csv_users", names: ["external_id", "tag.plan", "property.Age"], problem: null },
    {
      type: "csv_users",
      names: [
        "id",
        "external_id",
        "tags",
        "properties",
        "session_count",
        "first_seen_at",
        "last_active_at",
        "created_at",
      ],
      problem: null,
    },
    { type: "csv_users", names: ["CHANNEL", "token"], problem: null },
    { type: "csv_users", names: ["external_id", "token_masked"], problem: 'has an unknown column "token_masked"' },
    { type: "csv_users", names: ["external_id", "token"], problem: "has only one of the columns channel and token" },
    { type: "csv_users", names: ["tags"], problem: "has no column external_id, nor channel and token" },
    { type: "csv_users", names: ["external_id", "External_ID"], problem: 'has the column "external_id" twice' },
    { type: "thirdparty_players", names: ["id", "identifier", "device_type", "web_auth"], problem: null },
    {
      type: "thirdparty_players",
      names: ["external_id", "channel"],
      problem: "has no column identifier, device_type: it is no export of that system",
    },
  ] as const;
  for (const { type, names, problem } of headers) {
    it(`of ${type} with ${names.join(", ")} is ${problem === null ? "taken" : "refused"}`, () => {
      const header = headerOf(type, names);
      expect(header.ok ? null : header.problem).to.equal(problem);
    });
  }
});
