import fc from "fast-check";

/** A member of CreateNotificationDto: values inside its bounds, and values outside with the field to be named. */
export type Bound = {
  member: string;
  good: fc.Arbitrary<unknown>;
  bad: fc.Arbitrary<{ value: unknown; field: string }>;
};

const text = (from: number, to: number) => fc.string({ unit: "grapheme-ascii", minLength: from, maxLength: to });
const at = (field: string) => (value: unknown) => ({ value, field });
const noText = fc.constantFrom<unknown>(null, 7, true, {}, []);
const noList = fc.constantFrom<unknown>(null, 7, "a", {});
const noMap = fc.constantFrom<unknown>(null, 7, "a", []);
const noNumber = fc.constantFrom<unknown>(null, "7", true, {}, []);

/** Text of `least` to `most` characters. */
const textOf = (member: string, least: number, most: number): Bound => ({
  member,
  good: fc.oneof(text(least, Math.min(most, 200)), text(least, least), text(most, most)),
  bad: fc.oneof(text(most + 1, most + 20), noText, ...(least > 0 ? [fc.constant("")] : [])).map(at(member)),
});

const wholeOf = (member: string, least: number, most: number): Bound => ({
  member,
  good: fc.oneof(fc.integer({ min: least, max: most }), fc.constantFrom(least, most)),
  bad: fc
    .oneof(fc.integer({ max: least - 1 }), fc.integer({ min: most + 1 }), fc.constant(least + 0.5), noNumber)
    .map(at(member)),
});

const numberOf = (member: string, least: number, most: number): Bound => ({
  member,
  good: fc.double({ min: least, max: most, noNaN: true }),
  bad: fc
    .oneof(
      fc.double({ max: least - 0.001, min: -1e9, noNaN: true }),
      fc.double({ min: most + 0.001, max: 1e9, noNaN: true }),
      noNumber,
    )
    .map(at(member)),
});

const oneOf = (member: string, ...values: (string | number)[]): Bound => ({
  member,
  good: fc.constantFrom(...values),
  bad: fc
    .oneof(
      text(0, 12).filter((value) => !values.includes(value)),
      fc.integer().filter((value) => !values.includes(value)),
      fc.constantFrom<unknown>(null, [], {}),
    )
    .map(at(member)),
});

const flag = (member: string): Bound => ({
  member,
  good: fc.boolean(),
  bad: fc.constantFrom<unknown>(null, 0, 1, "true", [], {}).map(at(member)),
});

const address = (length: number) => `https://e.example/${"a".repeat(length - 18)}`;
const urlOf = (member: string): Bound => ({
  member,
  good: fc.oneof(fc.integer({ min: 19, max: 2000 }).map(address), fc.constant("")),
  bad: fc
    .oneof(fc.integer({ min: 2001, max: 2100 }).map(address), fc.constantFrom("no address", "//e.example"), noText)
    .map(at(member)),
});

const mail = (length: number) => `${"a".repeat(60)}@${"b.".repeat((length - 63) / 2)}example`.slice(0, length);
const mailOf = (member: string): Bound => ({
  member,
  good: fc.constantFrom("", "a@example.com", "Anna.B@sub.example.org"),
  bad: fc.oneof(fc.constantFrom("a", "a@", "@b.c", "a b@c.de", mail(400)), noText).map(at(member)),
});

/** A list of `least` to `most` items; `bad` are items that must not be in it. */
const listOf = (
  member: string,
  [least, most]: [number, number],
  good: (n: number) => unknown,
  bad: unknown[],
): Bound => ({
  member,
  good: fc
    .oneof(fc.integer({ min: least, max: Math.min(most, 10) }), fc.constant(most))
    .map((n) => Array.from({ length: n }, (_, i) => good(i))),
  bad: fc.oneof(
    fc.integer({ min: most + 1, max: most + 5 }).map((n) => at(member)(Array.from({ length: n }, (_, i) => good(i)))),
    noList.map(at(member)),
    ...(least > 0 ? [fc.constant(at(member)([]))] : []),
    ...bad.map((item) =>
      fc
        .nat({ max: Math.min(most, 3) - 1 })
        .map((i) => at(`${member}[${i}]`)([...Array.from({ length: i }, (_, n) => good(n)), item])),
    ),
  ),
});

const languages = (n: number) =>
  Object.fromEntries(
    Array.from({ length: n }, (_, i) => [`a${String.fromCharCode(97 + (i % 26))}${i >= 26 ? "x" : ""}`, "Hello"]),
  );
const languagesOf = (member: string): Bound => ({
  member,
  good: fc.oneof(
    fc.constantFrom({ en: "Hi", "pt-BR": "Oi", "zh-Hant-TW": "" }),
    fc.integer({ min: 1, max: 50 }).map(languages),
  ),
  bad: fc.oneof(
    noMap.map(at(member)),
    fc.integer({ min: 51, max: 52 }).map((n) => at(member)(languages(n))),
    fc
      .constantFrom("EN", "e", "english", "en_US", "")
      .map((key) => at(`${member}${key === "" ? "." : `.${key}`}`)({ [key]: "x" })),
    fc.constantFrom<unknown>(7, null, []).map((value) => at(`${member}.en`)({ en: value })),
  ),
});

const button = (i: number) => ({ id: `b${i}`, text: "Go" });
const badButtons = (member: string): Bound["bad"] =>
  fc.constantFrom(
    at(`${member}[0].id`)([{ text: "Go" }]),
    at(`${member}[0].text`)([{ id: "a" }]),
    at(`${member}[0].id`)([{ id: "a".repeat(65), text: "Go" }]),
    at(`${member}[0].text`)([{ id: "a", text: "b".repeat(101) }]),
    at(`${member}[0].icon`)([{ ...button(0), icon: "x" }]),
    at(`${member}[0].url`)([{ ...button(0), url: address(2001) }]),
    at(`${member}[0].colour`)([{ ...button(0), colour: "red" }]),
  );
const buttonsOf = (member: string, most: number): Bound => {
  const list = listOf(member, [0, most], button, ["x"]);
  return { ...list, bad: fc.oneof(list.bad, badButtons(member)) };
};

/** An object: some inside its bounds, others by the field of theirs that is outside. */
const shapeOf = (member: string, good: object[], bad: Record<string, object>): Bound => ({
  member,
  good: fc.constantFrom(...good),
  bad: fc.oneof(
    noMap.map(at(member)),
    fc.constantFrom(...Object.entries(bad).map(([field, value]) => at(`${member}.${field}`)(value))),
  ),
});

/** The members that have an effect in this release, with their bounds. Source: docs/reference/limits.md#messages. */
export const effective: readonly Bound[] = [
  textOf("name", 1, 200),
  textOf("category", 1, 64),
  textOf("campaign_id", 1, 64),
  listOf("labels", [0, 10], (i) => `l${i}`, ["", "a".repeat(41), 7, null]),
  {
    member: "idempotency_key",
    good: fc.uuid(),
    bad: fc.constantFrom("", "a b", "ü", "a".repeat(256), 7, null).map(at("idempotency_key")),
  },
  languagesOf("headings"),
  languagesOf("contents"),
  languagesOf("subtitle"),
  urlOf("url"),
  urlOf("app_url"),
  urlOf("big_picture"),
  {
    member: "data",
    good: fc.dictionary(
      text(1, 100).filter((key) => key !== "__proto__"),
      text(0, 200),
      { maxKeys: 10 },
    ),
    bad: fc.oneof(
      noMap.map(at("data")),
      fc.constant(at("data")(Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, ""])))),
      fc.constant(at(`data.${"k".repeat(101)}`)({ ["k".repeat(101)]: "" })),
      fc.constant(at("data.k")({ k: "v".repeat(1001) })),
      fc.constantFrom<unknown>(7, true, null, {}, []).map((value) => at("data.k")({ k: value })),
    ),
  },
  buttonsOf("buttons", 3),
  buttonsOf("web_buttons", 2),
  {
    member: "ios_attachments",
    good: fc.constant({ a: address(50) }),
    bad: fc.oneof(
      noMap.map(at("ios_attachments")),
      fc.constantFrom<unknown>("x", 7, address(2001)).map((value) => at("ios_attachments.a")({ a: value })),
    ),
  },
  textOf("ios_sound", 0, 100),
  {
    ...oneOf("ios_badge_type", "None", "SetTo", "Increase"),
    good: fc.constantFrom("None", "Increase"), // SetTo needs the number as well
  },
  wholeOf("ios_badge_count", 0, 99_999),
  oneOf("ios_interruption_level", "passive", "active", "time-sensitive", "critical"),
  textOf("ios_category", 0, 100),
  textOf("thread_id", 0, 100),
  numberOf("ios_relevance_score", 0, 1),
  textOf("target_content_identifier", 0, 200),
  flag("mutable_content"),
  flag("content_available"),
  textOf("android_channel_id", 0, 100),
  textOf("android_group", 0, 100),
  textOf("android_sound", 0, 100),
  textOf("small_icon", 0, 100),
  textOf("large_icon", 0, 2000),
  {
    member: "android_accent_color",
    good: fc.constantFrom("FF0033ee", "00000000"),
    bad: fc.constantFrom("", "red", "#FF0033EE", "FF0033E", "FF0033EEE", 7).map(at("android_accent_color")),
  },
  oneOf("android_visibility", 1, 0, -1),
  urlOf("chrome_web_icon"),
  urlOf("chrome_web_image"),
  urlOf("chrome_web_badge"),
  {
    member: "web_push_topic",
    good: fc.constantFrom("", "a-Z_9", "t".repeat(32)),
    bad: fc.constantFrom("t".repeat(33), "a b", "ä", 7).map(at("web_push_topic")),
  },
  flag("require_interaction"),
  textOf("email_subject", 0, 998),
  textOf("email_body", 0, 500_000),
  textOf("email_preheader", 0, 500),
  textOf("email_from_name", 0, 200),
  mailOf("email_from_address"),
  mailOf("email_reply_to_address"),
  shapeOf(
    "whatsapp_template",
    [
      { name: "a".repeat(512), language: "en_US", body_params: Array.from({ length: 20 }, () => "x") },
      { name: "a", language: "de", header: { type: "location", latitude: -90, longitude: 180, name: "n" } },
    ],
    {
      name: { name: "a".repeat(513), language: "de" },
      language: { name: "a" },
      body_params: { name: "a", language: "de", body_params: Array.from({ length: 21 }, () => "x") },
      "button_params[0]": { name: "a", language: "de", button_params: ["x"] },
      colour: { name: "a", language: "de", colour: "red" },
    },
  ),
  shapeOf("whatsapp_media", [{ type: "document", url: address(2000), filename: "f".repeat(240) }], {
    type: { type: "sticker", url: address(40) },
    url: { type: "image", url: address(2001) },
    filename: { type: "document", url: address(40), filename: "f".repeat(241) },
  }),
  shapeOf("whatsapp_interactive", [{ type: "button", footer: "f".repeat(60), buttons: [{ id: "a", title: "Go" }] }], {
    type: { type: "flow" },
    header: { type: "button", header: "h".repeat(61), buttons: [{ id: "a", title: "Go" }] },
    buttons: { type: "button", buttons: [1, 2, 3, 4].map((id) => ({ id: `${id}`, title: `${id}` })) },
    "list.sections[0].rows": { type: "list", list: { button: "Go", sections: [{ rows: [] }] } },
  }),
  flag("disable_email_click_tracking"),
  textOf("collapse_id", 0, 64),
  oneOf("priority", 5, 10),
  wholeOf("ttl", 60, 2_419_200),
  {
    member: "send_after",
    good: fc.integer({ min: -86_000_000, max: 31_000_000_000 }).map((ms) => new Date(Date.now() + ms).toISOString()),
    bad: fc.oneof(
      fc.constantFrom("", "tomorrow", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", 7, null).map(at("send_after")),
      fc
        .integer({ min: 86_500_000, max: 10_000_000_000 })
        .map((ms) => at("send_after")(new Date(Date.now() - ms).toISOString())),
      fc
        .integer({ min: 31_600_000_000, max: 99_000_000_000 })
        .map((ms) => at("send_after")(new Date(Date.now() + ms).toISOString())),
    ),
  },
  oneOf("delayed_option", "timezone", "optimized"),
  flag("quiet_hours_exempt"),
  flag("frequency_cap_exempt"),
  wholeOf("throttle_rate_per_minute", 0, 1_000_000),
  flag("include_unsubscribed"),
  flag("one_per_user"),
  { ...flag("add_to_inbox"), good: fc.constant(false) }, // true needs contents or headings, which a mail has not
  flag("redact_payload"),
  flag("test"),
  textOf("sms_from", 1, 20),
  listOf("sms_media_urls", [0, 10], () => address(40), ["x", 7]),
  flag("disable_sms_link_shortening"),
  languagesOf("rcs_fallback_text"),
];

/** The members of `target`. */
export const targets: readonly Bound[] = [
  flag("all"),
  listOf("include_subscription_ids", [0, 2000], (i) => `sub_01ARZ3NDEKTSV4RRFFQ69G${String(i).padStart(4, "0")}`, [
    "",
    7,
  ]),
  listOf("include_external_ids", [0, 2000], (i) => `u${i}`, ["", 7, "a".repeat(256)]),
  listOf("channels", [1, 8], () => "email", ["fax", 7, null]),
  flag("test_devices_only"),
];
