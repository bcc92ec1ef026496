import { type Static, type TObject, type TProperties, type TSchema, Type } from "typebox";
import type { FieldError } from "../../errors.ts";
import { Closed, Nullable } from "../../schema/json/common.ts";
import { cel, secretRef } from "../../schema/kubernetes/common.ts";
import type { Rule } from "../../schema/kubernetes/definition.ts";

/**
 * The account of an app at a provider, as it is stored: what is public in the clear, what is {@link secret} sealed. The
 * channel's member in the App resource, sealing, opening and the names of Secrets follow from the schema.
 */
export type AccountDefinition<Members extends TProperties = TProperties> = {
  members: TObject<Members>;
  /** Of the channel's member in the App resource. */
  description: string;
  /** The keys of its Secret, and what each holds. */
  secretHolds: string;
  /** The members in the resource that make the Secret necessary; left out: it always is. */
  secretGoesWith?: readonly string[];
  /** What else the members must be like in the resource. */
  rules?: readonly Rule[];
  /** The same of what the REST interface is given, which no CEL rule sees. */
  problems?: (said: Readonly<Record<string, unknown>>) => FieldError[];
};

export const defineAccount = <Members extends TProperties>(
  members: Members,
  about: Omit<AccountDefinition, "members">,
): AccountDefinition<Members> => ({ members: Closed(members), ...about });

declare const secretMark: unique symbol;
type SecretText = { readonly [secretMark]: true };

/** An account with each of its secrets as a `Secret`: sealed as it is stored, or a string while it is open. */
export type AccountOf<Definition extends AccountDefinition, Secret> = With<Secret, Static<Definition["members"]>>;

type With<Secret, Value> = Value extends SecretText
  ? Secret
  : Value extends object
    ? { [Member in keyof Value]: With<Secret, Value[Member]> }
    : Value;

/** Reads a member's value from the text of a Secret. @throws BadSecret when the text is not what it has to be */
type ReadText = (text: string) => string;

/** A member whose value the Secret has under `key`. `goesWith` names the member without which it is null. */
type FromSecret = { key: string; read: ReadText; isSealed: boolean; goesWith?: string };

const given = (fromSecret: FromSecret): TSchema => ({ type: "string", fromSecret });
const asItIs: ReadText = (text) => text;

/** A member that is stored sealed. The Secret has it under `key`. */
export const secret = (key: string, read: ReadText = asItIs) =>
  Type.Unsafe<SecretText>(given({ key, read, isSealed: true }));

/** The same, but null in an account without the member `goesWith`. */
export const secretWith = (goesWith: string, key: string, read: ReadText = asItIs) =>
  Type.Unsafe<SecretText | null>(given({ key, read, isSealed: true, goesWith }));

/** A member that is stored in the clear, though its value comes from the Secret. */
export const fromSecret = (key: string, read: ReadText) => Type.Unsafe<string>(given({ key, read, isSealed: false }));

/** The channel's member in the App resource: what is not read from the Secret, in camel case, and the Secret's name. */
export const resourceMember = (account: AccountDefinition): TSchema => {
  const { members, description, secretHolds, secretGoesWith, rules = [] } = account;
  const [said, ref] = [without(members, inResource), secretRef(secretHolds)];
  if (secretGoesWith === undefined) {
    return Closed({ ...said, secretRef: ref }, { description, ...(rules.length > 0 && cel(...rules)) });
  }
  const rule = `has(self.secretRef) == (${secretGoesWith.map((member) => `has(self.${member})`).join(" || ")})`;
  const message = `secretRef goes with ${secretGoesWith.join(" or ")}: both or neither`;
  return Closed({ ...said, secretRef: Type.Optional(ref) }, { description, ...cel({ rule, message }, ...rules) });
};

/** The settings of an account as the REST interface takes them: what is not secret, but for the provider's name. */
export const restMembers = ({ members }: AccountDefinition): TObject => {
  const { provider: _, ...settings } = without(members, inRest);
  return Closed(settings);
};

/** How the members of accounts are called and may be left out. */
type Spelling = { nameOf: (member: string) => string; leftOut: (member: TSchema) => TSchema };

const inResource: Spelling = { nameOf: camelCase, leftOut: (member) => Type.Optional(member) };
const inRest: Spelling = { nameOf: (name) => name, leftOut: (member) => Type.Optional(Nullable(member)) };

/** The members without the secrets. */
const without = ({ properties }: TObject, spelling: Spelling): TProperties =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([, member]) => sourceOf(member) === null)
      .map(([name, member]) => {
        const { inner, isNullable } = unwrapped(member);
        const schema = Type.IsObject(inner) ? withoutSecrets(inner, spelling) : inner;
        const isFree = isNullable || (spelling === inRest && "default" in schema); // an API server fills in defaults itself
        return [spelling.nameOf(name), isFree ? spelling.leftOut(schema) : schema];
      }),
  );

const withoutSecrets = (members: TObject, spelling: Spelling): TSchema =>
  Object.assign({}, members, { required: [] }, Closed(without(members, spelling)));

/** The text of a key of a Secret, parsed. */
type ReadKey = (key: string, parse: ReadText) => string;

/** The stored members of what a resource says; `read` gives the text of a key of its Secret, parsed. */
export const storedMembers = (members: TObject, said: Values, read: ReadKey): Values =>
  stored(members, said, { nameOf: camelCase, read });

/** The same of what the REST interface is given. */
export const storedRestMembers = (members: TObject, said: Values, read: ReadKey): Values =>
  stored(members, said, { nameOf: inRest.nameOf, read });

type Saying = { nameOf: (member: string) => string; read: ReadKey };

const stored = (members: TObject, said: Values, { nameOf, read }: Saying): Values =>
  mapMembers(members, said, {
    nameOf,
    map: (source, value, { beside }) => {
      if (source === null) return value;
      const isRead = source.goesWith === undefined || (beside[nameOf(source.goesWith)] ?? null) !== null;
      return isRead ? read(source.key, source.read) : null;
    },
  });

/** Replaces every secret of stored members; `place` is the path to it, e.g. `dkim.private_key`. */
export const mapSecrets = (
  members: TObject,
  stored: Values,
  replace: (secret: unknown, place: string) => unknown,
): Values =>
  mapMembers(members, stored, {
    nameOf: (name) => name,
    map: (source, value, { place }) => (source?.isSealed === true && value !== null ? replace(value, place) : value),
  });

type Values = Record<string, unknown>;
type Mapping = {
  /** The name that a member has among the values. */
  nameOf: (member: string) => string;
  map: (source: FromSecret | null, value: unknown, at: { place: string; beside: Values }) => unknown;
};

/** Maps the value of every member, those of members within members too. */
const mapMembers = ({ properties }: TObject, values: Values, mapping: Mapping, path = ""): Values =>
  Object.fromEntries(
    Object.entries(properties).map(([name, member]) => {
      const value = values[mapping.nameOf(name)] ?? null;
      const { inner } = unwrapped(member);
      const place = `${path}${name}`;
      if (Type.IsObject(inner) && isObject(value)) return [name, mapMembers(inner, value, mapping, `${place}.`)];
      return [name, mapping.map(sourceOf(member), value, { place, beside: values })];
    }),
  );

const sourceOf = (member: TSchema): FromSecret | null =>
  "fromSecret" in member ? (member.fromSecret as FromSecret) : null; // sound: `given` alone sets it

/** A member that may be left out is stored as null. */
const unwrapped = (member: TSchema): { inner: TSchema; isNullable: boolean } => {
  const [inner] = Type.IsUnion(member) ? member.anyOf : [];
  return { inner: inner ?? member, isNullable: inner !== undefined };
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
