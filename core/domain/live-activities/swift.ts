import type { ActivitySchema, LiveActivityProperty } from "../../schema/live-activities/type.ts";

/** What a Swift struct is made from. */
export type SwiftType = { name: string; content_state_schema: ActivitySchema; attributes_schema: ActivitySchema };

/**
 * The Swift source of a struct that decodes what is sent of a type. Members have the names of the schema; one that is not
 * required is optional. Texts stay texts, also instants and those of an `enum`: a device drops a push that it cannot
 * decode, and ActivityKit decodes no other form of a date than its own.
 */
export const swiftOf = ({ name, content_state_schema: state, attributes_schema: attributes }: SwiftType): string =>
  [
    "// Made by Herald from the schemas of a live activity type. Source: docs/live-activities.md",
    "import ActivityKit",
    "",
    `struct ${identifierOf(name)}: ActivityAttributes {`,
    ...indented(structOf("public struct ContentState: Codable, Hashable", membersOf(state))),
    "",
    ...indented(["/// Which activity it is: goes with its token to your server."]),
    ...indented(bodyOf([activityId, ...membersOf(attributes)])),
    "}",
    "",
  ].join("\n");

type Member = { json: string; swift: string; type: string; note: string | null };

const activityId: Member = { json: "herald_activity_id", swift: "herald_activity_id", type: "String?", note: null };

const swiftTypes = { string: "String", integer: "Int", number: "Double", boolean: "Bool" } as const;

const membersOf = ({ properties, required = [] }: ActivitySchema): Member[] => {
  const taken = new Set([activityId.swift]);
  return Object.entries(properties).map(([json, property]) => ({
    json,
    swift: unique(identifierOf(json), taken),
    type: swiftTypes[property.type] + (required.includes(json) ? "" : "?"),
    note: noteOf(property),
  }));
};

const noteOf = ({ description, enum: values }: LiveActivityProperty): string | null => {
  const notes = [description, values && `one of ${values.join(", ")}`].filter((note) => note !== undefined);
  return notes.length === 0 ? null : notes.join("; ").replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " "); // one line
};

const unique = (name: string, taken: Set<string>): string => {
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${name}_${n}`;
  taken.add(free);
  return free;
};

const structOf = (head: string, members: readonly Member[]): string[] => [
  `${head} {`,
  ...indented(bodyOf(members)),
  "}",
];

const bodyOf = (members: readonly Member[]): string[] => [
  ...members.flatMap(({ swift, type, note }) => [
    ...(note === null ? [] : [`/// ${note}`]),
    `var ${quoted(swift)}: ${type}`,
  ]),
  ...(members.every(({ json, swift }) => json === swift) ? [] : ["", ...codingKeys(members)]),
];

const codingKeys = (members: readonly Member[]): string[] => [
  "enum CodingKeys: String, CodingKey {",
  ...indented(members.map(({ json, swift }) => `case ${quoted(swift)}${json === swift ? "" : ` = ${literal(json)}`}`)),
  "}",
];

/** A name as Swift admits it: other characters become underscores. */
const identifierOf = (name: string): string => {
  const plain = name.replaceAll(/[^\p{L}\p{M}\p{N}_]/gu, "_");
  return /^[\p{L}_]/u.test(plain) ? plain : `_${plain}`;
};

/** Source: The Swift Programming Language, "Lexical Structure", keywords that are reserved. */
const keywords = new Set(
  (
    "associatedtype borrowing class consuming deinit enum extension fileprivate func import init inout internal let nonisolated " +
    "open operator precedencegroup private protocol public rethrows static struct subscript typealias var break case catch continue " +
    "default defer do else fallthrough for guard if in repeat return switch throw where while Any as await false is nil self Self " +
    "super throws true try"
  ).split(" "),
);

const quoted = (name: string): string => (keywords.has(name) ? `\`${name}\`` : name);

const literal = (text: string): string =>
  `"${text.replaceAll(/["\\]|[\p{Cc}\p{Zl}\p{Zp}]/gu, (one) => (one === '"' || one === "\\" ? `\\${one}` : `\\u{${one.codePointAt(0)?.toString(16)}}`))}"`;

const indented = (lines: readonly string[]): string[] => lines.map((line) => (line === "" ? "" : `    ${line}`));
