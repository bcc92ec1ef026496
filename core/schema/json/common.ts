import { type Static, Type } from "typebox";
import { channels } from "../vocabulary/channels.ts";
import { patterns } from "./patterns.ts";

/** Members that may be left out or be null in a reply. */
export const Nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const DateTime = Type.String({ format: "date-time", description: "ISO 8601, UTC, milliseconds" });
export const Url = Type.String({ format: "uri", maxLength: 2000 });
/** A text that may be left out, or be empty, which is the same. */
export const OrEmpty = <T extends Type.TString>(text: T) => Type.Union([text, Type.Literal("")]);
export const ChannelName = Type.Enum([...channels], { description: "one of the eight channels" });
export type ChannelName = Static<typeof ChannelName>;

/** A map whose keys are bounded too; `Type.Record` alone would accept any key. */
export const MapOf = <T extends Type.TSchema>(key: Type.TStringOptions, value: T, options: Type.TObjectOptions = {}) =>
  Type.Record(Type.String(), value, { propertyNames: { type: "string", ...key }, ...options });

/** Language code (BCP 47, lower-case primary subtag) to text. Source: docs/reference/messages.md#languages. */
export const LanguageMap = MapOf({ pattern: patterns.language, maxLength: 35 }, Type.String(), {
  maxProperties: 50,
  description: "language code to text; the recipient's language, its base, `en`, then the first key is chosen",
});
export type LanguageMap = Static<typeof LanguageMap>;

/** An object that admits no member it does not name. */
export const Closed = <T extends Type.TProperties>(properties: T, options: Type.TObjectOptions = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });

/** JSON Schema's `if`, by other names: an object with a member `then` looks like a promise. */
export const conditional = (rule: { when: object; require: object; otherwise?: object }): Record<string, object> =>
  Object.fromEntries(Object.entries(rule).map(([name, schema]) => [keywords[name] ?? name, schema]));

const keywords: Record<string, string> = { when: "if", require: "then", otherwise: "else" };
