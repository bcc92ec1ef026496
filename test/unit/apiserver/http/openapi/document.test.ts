import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { expect } from "chai";
import { filterProblems } from "#core/domain/webhooks/filter.ts";
import { nameOf } from "#core/schema/json/named.ts";
import { filterOps, type WebhookFilters } from "#core/schema/webhooks/filters.ts";
import { features, operations, document as served } from "../../../../../apiserver/features.ts";
import { closed } from "../../../../support/api/openapi-check.ts";

type Json = Record<string, unknown>;
type Parameter = { name: string; in: string; schema: Json; example?: unknown };
type Response = { $ref?: string; description: string };
type Operation = { operationId: string; parameters: Parameter[]; responses: Record<string, Response> };

const document = served() as unknown as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { examples?: unknown[]; additionalProperties?: boolean }> };
};

/** As tools of others read the document: they know the formats that JSON Schema names, and no more. */
const { "date-time": dateTime, email, uri } = fullFormats;
const formats = { "date-time": dateTime, email, uri, "iso-date-time": true as const };
const ajv = new Ajv2020({ strict: false, allErrors: true, formats, code: { optimize: false } });
ajv.addSchema({ ...document, $id: "open" });
ajv.addSchema({ ...(closed(document) as Json), $id: "closed" }); // replies may grow, but examples name what there is

const validatorOf = (name: string, { isReply = false } = {}): ValidateFunction =>
  ajv.compile({ $ref: `${isReply ? "closed" : "open"}#/components/schemas/${name}` });

const parameters = Object.values(document.paths)
  .flatMap((path) => Object.values(path))
  .flatMap(({ operationId, parameters: own }) => own.map((parameter) => ({ ...parameter, of: operationId })));

describe("the OpenAPI document", () => {
  for (const [name, { examples = [], additionalProperties }] of Object.entries(document.components.schemas)) {
    it(`has examples of ${name}, and admits them`, () => {
      const isValid = validatorOf(name, { isReply: additionalProperties !== false });
      expect(examples).to.not.deep.equal([]);
      for (const example of examples) expect(isValid(example), ajv.errorsText(isValid.errors)).to.equal(true);
    });
  }

  for (const { id, body, reply } of operations) {
    if (id === "getOpenapi") continue; // its reply is this document
    it(`has names for the body and the reply of ${id}`, () => {
      for (const schema of [body, reply]) if (schema !== undefined) expect(nameOf(schema)).to.be.a("string");
    });
  }

  it("has every schema and every parameter that a feature says something of", () => {
    const paths = Object.keys(document.paths).join();
    for (const { docs } of features) {
      const schemas = Object.keys({ ...docs.examples, ...docs.narrowed });
      expect(document.components.schemas).to.include.keys(schemas);
      for (const name of Object.keys(docs.pathParameters ?? {})) expect(paths).to.include(`{${name}}`);
      for (const name of Object.keys(docs.queryExamples ?? {}))
        expect(parameters.map((one) => one.name)).to.include(name);
    }
  });

  it("has an example of every parameter, and admits it", () => {
    expect(parameters).to.have.length.above(50);
    for (const { of, name, schema, example } of parameters) {
      const isValid = ajv.compile(schema);
      expect(example, `${of}: ${name}`).to.not.equal(undefined);
      expect(isValid(example), `${of}: ${name}: ${ajv.errorsText(isValid.errors)}`).to.equal(true);
    }
  });

  const message = { target: { all: true }, contents: { en: "x" } };
  const mail = { channel: "email", token: "a@b.example" };
  const web = { p256dh: `BA${"A".repeat(85)}`, auth: "A".repeat(22) };
  const browser = { channel: "web_push", token: "https://push.example/1", web };
  const hook = { url: "https://shop.example.com/hooks", events: ["event.received"] };
  const named = { ...hook, event_filters: { event_names: ["order.paid"] } };

  /** What a check refuses, for each a body that differs by that alone and is taken. */
  const refusals: [schema: string, what: string, good: object, bad: object][] = [
    ["CreateNotification", "a target of nothing", message, { target: {} }],
    ["CreateNotification", "a target of channels alone", message, { target: { channels: ["email"] } }],
    ["CreateNotification", "nobody at all", message, { target: { all: false } }],
    ["CreateNotification", "an id that is none", message, { target: { include_subscription_ids: ["sub_1"] } }],
    [
      "CreateNotification",
      "a user's id that is none",
      { ...message, target: { include_aliases: { crm: ["x"] } } },
      { target: { include_aliases: { user_id: ["x"] } } },
    ],
    ["CreateNotification", "no content", message, { contents: undefined }],
    [
      "CreateNotification",
      "a time that is none",
      { ...message, send_after: "2026-11-22T09:00:00" },
      { send_after: "tomorrow" },
    ],
    ["CreateNotification", "a key with a space", { ...message, idempotency_key: "a-b" }, { idempotency_key: "a b" }],
    ["CreateNotification", "a subject without a body", message, { email_subject: "s" }],
    ["CreateNotification", "a badge without its number", message, { ios_badge_type: "SetTo" }],
    ["CreateNotification", "a time of day alone", message, { delivery_time_of_day: "9:00" }],
    [
      "CreateNotification",
      "a time of day that is none",
      { ...message, delayed_option: "timezone" },
      { delivery_time_of_day: "9" },
    ],
    [
      "CreateNotification",
      "no address",
      { ...message, target: { email_to: ["a@b.example"] } },
      { target: { email_to: [] } },
    ],
    ["CreateNotification", "a channel of no name", message, { target: { all: true, channels: ["fax"] } }],
    ["CreateSubscription", "a channel of no name", mail, { channel: "fax" }],
    ["CreateSubscription", "a token of another channel", mail, { channel: "ios_push" }],
    ["CreateSubscription", "a browser without keys", browser, { web: undefined }],
    ["CreateSubscription", "keys that are none", browser, { web: { ...web, auth: "AAAA" } }],
    ["CreateSubscription", "a point that is none", browser, { web: { ...web, p256dh: `AA${"A".repeat(85)}` } }],
    ["CreateSubscription", "keys without a browser", mail, { web }],
    ["CreateWebhook", "an address that is none", named, { url: "shop.example.com" }],
    ["CreateWebhook", "custom events of no name", named, { event_filters: {} }],
    ["UpdateWebhook", "another scheme", { url: hook.url }, { url: "ftp://shop.example.com" }],
    ["CreateWebhook", "a reserved header", { ...named, headers: { "X-Host": "a" } }, { headers: { hOST: "a" } }],
    ["CreateWebhook", "a header of ours", { ...named, headers: { "X-A": "a" } }, { headers: { "Webhook-Id": "a" } }],
    ["UpdateWebhook", "a reserved header", { headers: null }, { headers: { "Content-Type": "a" } }],
    ["UpsertUser", "a time zone that is none", { external_id: "a", timezone: "EST5EDT" }, { timezone: "+01:00" }],
    [
      "CreateSubscription",
      "a device's zone that is none",
      { ...mail, device: { timezone: "Etc/GMT+5" } },
      { device: { timezone: "5 h" } },
    ],
    [
      "CreateSuppression",
      "a mail address that is none",
      { channel: "email", address: "a@b.example" },
      { address: "a" },
    ],
    ["LiveActivityProperty", "values of another type", { type: "string", enum: ["a"] }, { enum: [1] }],
    ["LiveActivityProperty", "a bound of another type", { type: "integer", minimum: 1 }, { minLength: 1 }],
    ["UpsertUser", "a user of no alias", { aliases: { crm: "1" } }, { aliases: {} }],
    ["UpsertUser", "a user without an id", { external_id: "a", tags: { b: "c" } }, { external_id: undefined }],
  ];
  for (const [schema, what, good, bad] of refusals) {
    it(`does not admit ${what} in ${schema}`, () => {
      const isValid = validatorOf(schema);
      const judge = (body: object): boolean => isValid(JSON.parse(JSON.stringify(body))); // without what is undefined
      expect(judge(good), ajv.errorsText(isValid.errors)).to.equal(true);
      expect(judge({ ...good, ...bad })).to.equal(false);
    });
  }

  it("says of no member of a request that it is not built", () => {
    expect(JSON.stringify(document)).to.not.match(/(supported|built)( by| in)? this release/);
  });

  it("admits of the filters of webhooks what is taken, and refuses what is refused", () => {
    const isValid = validatorOf("WebhookFilters");
    const dates = ["2026-01-31", "2026-01-31T09:00:00Z"];
    const values = [
      undefined,
      "a",
      "x".repeat(501),
      "1.10",
      dates[0],
      1,
      true,
      null,
      {},
      [],
      ["a"],
      [""],
      [1, 2],
      dates,
      [1, "a"],
      ["a", "b"],
    ];
    const conditions = filterOps.flatMap((op) =>
      ["name", "data.a", ".a", ""].flatMap((field) => values.map((value) => ({ field, op, value }))),
    );
    for (const condition of conditions) {
      const filters: WebhookFilters = JSON.parse(JSON.stringify({ match: "all", conditions: [condition] }));
      const isTaken = condition.field !== "" && filterProblems(filters, "filters").length === 0;
      expect(isValid(filters), JSON.stringify(condition)).to.equal(isTaken);
    }
  });

  for (const [name, bad] of [
    ["cursor", "what ever"],
    ["limit", 0],
    ["Idempotency-Key", ""],
    ["Idempotency-Key", "a b"],
    ["idempotency_key", "ä"],
    ["from", "yesterday"],
    ["label", ""],
    ["appId", ""],
  ] as const) {
    it(`does not admit ${JSON.stringify(bad)} as ${name}`, () => {
      const own = parameters.filter((parameter) => parameter.name === name);
      expect(own).to.not.deep.equal([]);
      for (const { schema, of } of own) expect(ajv.compile(schema)(bad), of).to.equal(false);
    });
  }

  const refusalsOf = (id: string): [status: string, codes: string][] => {
    const own = Object.values(document.paths).flatMap((path) => Object.values(path));
    const { responses } = own.find(({ operationId }) => operationId === id) ?? expect.fail(id);
    return Object.entries(responses).flatMap(([status, { $ref, description }]) =>
      $ref ? [[status, description]] : [],
    );
  };

  it("names the error codes of an operation by their statuses: its own, and those of every other", () => {
    const given = refusalsOf("deleteWebhook").filter(([status]) =>
      ["400", "403", "404", "409", "413"].includes(status),
    );
    expect(given).to.deep.equal([
      ["400", "`HS_VALIDATION_ERROR`"],
      ["403", "`HS_FORBIDDEN`, `HS_ORGANIZATION_SUSPENDED`"],
      ["404", "`HS_NOT_FOUND`"],
      ["409", "`HS_MANAGED`, `HS_CONFLICT`"],
    ]);
  });

  it("names the error codes that follow from a plan's feature and from an idempotency key", () => {
    const given = new Map(refusalsOf("createWebhook"));
    expect(given.get("403")).to.equal("`HS_FORBIDDEN`, `HS_ORGANIZATION_SUSPENDED`, `HS_PLAN_FEATURE_REQUIRED`");
    expect(given.get("409")).to.equal("`HS_IDEMPOTENCY_IN_PROGRESS`");
    expect(given.get("422")).to.equal("`HS_IDEMPOTENCY_KEY_REUSED`");
  });

  for (const { id, errors = [] } of operations) {
    it(`names every error code that ${id} declares`, () => {
      const given = refusalsOf(id).map(([, codes]) => codes);
      for (const code of errors) expect(given.join(), code).to.include(`\`${code}\``);
    });
  }

  it("names each operation once", () => {
    const names = Object.values(document.paths).flatMap((path) => Object.values(path).map((one) => one.operationId));
    expect(new Set(names).size).to.equal(names.length);
  });
});
