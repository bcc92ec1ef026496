import type { Static, TObject, TSchema } from "typebox";
import type { ErrorCode } from "#core/errors.ts";
import { Closed } from "#core/schema/json/common.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { Scope } from "#core/schema/vocabulary/scopes.ts";
import type { Caller } from "../access/caller.ts";
import type { UseCases } from "../platform.ts";
import type { Attempt, NewId } from "./once.ts";

/** What is known before the resource is looked up: nothing of it is validated yet. */
export type Located = {
  params: Readonly<Record<string, string>>;
  /** As given, unparsed. */
  query: Readonly<Record<string, unknown>>;
  body: unknown;
  caller: Caller;
  signal: AbortSignal;
};

/** What a handler gets: parsed, authorised, with the resource that the path names. */
export type Request<B, Q, R> = Omit<Located, "query" | "body"> & {
  body: B;
  query: Q;
  resource: R;
  header: (name: string) => string | undefined;
  /** Where the request came from. */
  ip: string;
  traceparent: string;
  /** Makes the ids of what it makes. */
  newId: NewId;
  /** A request with an idempotency key; null without one. */
  once: Attempt["once"] | null;
  use: UseCases;
};

/** A reply; `status` when it is not the route's first. */
export type Answer<T> = { body: T; status?: number; headers?: Record<string, string> };

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** How a request with an `Idempotency-Key` is answered again: see once.ts. */
export type Repeatable<R, T> = {
  made?: (request: R) => Promise<Answer<T> | null>;
  show?: (request: R, id: string) => Promise<T>;
};

export type Definition<B extends TSchema, Q extends TObject, T extends TSchema, R> = {
  /** `operationId` of the OpenAPI document: the name that generated clients give it. */
  id: string;
  method: Method;
  /** As OpenAPI writes it: `/v1/apps/{appId}/users`. */
  path: string;
  summary: string;
  tag: string;
  /** Either suffices; `public` needs no key. */
  scopes: readonly Scope[] | "public";
  /** The reply's statuses, the usual one first. */
  status: readonly [number, ...number[]];
  body?: B;
  query?: Q;
  reply: T;
  /** Request headers that mean something here: name to description. */
  headers?: Record<string, string>;
  /** Error codes of this operation, besides those that every operation can give. */
  errors?: readonly ErrorCode[];
  /** Finds what the path or the body names, or throws NotFound: before scopes are looked at. */
  locate?: (located: Located, use: UseCases) => Promise<R>;
  /** Throws unless the caller's plan includes it: before the input is parsed. */
  inPlan?: (caller: Caller, resource: R, use: UseCases) => Promise<void>;
  /** For operations that make something, below an app: `Idempotency-Key` is honoured. */
  repeatable?: Repeatable<Request<Static<B>, Static<Q>, R>, Static<T>>;
  handle: (request: Request<Static<B>, Static<Q>, R>) => Promise<Answer<Static<T>>>;
};

/** A row of the table of operations: drives routing, checks, parsing and the OpenAPI document. */
export type Route = Omit<Definition<TSchema, TObject, TSchema, unknown>, "handle" | "repeatable"> & {
  repeatable?: Repeatable<Request<unknown, unknown, unknown>, unknown>;
  parseBody: (input: unknown) => unknown;
  parseQuery: (input: unknown) => unknown;
  handle: (request: Request<unknown, unknown, unknown>) => Promise<Answer<unknown>>;
};

/** Whether requests may have a body; a POST without a schema takes an empty object, and refuses each member of one. */
export const mayHaveBody = ({ method, body }: Pick<Route, "method" | "body">): boolean =>
  body !== undefined || method === "POST";

/** Declares one operation. The compiler checks the handler against its schemas, then the table forgets the types. */
export const route = <B extends TSchema, Q extends TObject, T extends TSchema, R>(
  definition: Definition<B, Q, T, R>,
): Route => ({
  ...(definition as unknown as Omit<Route, "repeatable">), // sound: the same row, types forgotten
  ...(definition.repeatable !== undefined && withKey(definition)),
  parseBody: definition.body === undefined ? parseNoBody : parserOnDemand(definition.body),
  parseQuery: definition.query === undefined ? () => ({}) : queryParser(definition.query),
  // sound: body, query and resource come from this row's own parsers and locate
  handle: definition.handle as Route["handle"],
});

const keyHeader = "the same key within 24 hours gives the first reply again; errors do not use it up";

const withKey = ({
  headers,
  errors = [],
  repeatable,
}: Pick<Route, "headers" | "errors"> & { repeatable?: unknown }) => ({
  headers: { ...headers, "Idempotency-Key": keyHeader },
  errors: [...errors, "HS_IDEMPOTENCY_IN_PROGRESS" as const, "HS_IDEMPOTENCY_KEY_REUSED" as const],
  repeatable: repeatable as NonNullable<Route["repeatable"]>, // sound: as handle, below
});

const parseNoBody = (input: unknown): undefined => {
  if (input !== undefined) parseEmpty(input);
};

/** A parser that is compiled when first used: most processes never serve most operations. */
const parserOnDemand = (schema: TSchema) => {
  let parse: ((input: unknown) => unknown) | undefined;
  return (input: unknown): unknown => {
    parse ??= parser(schema);
    return parse(input);
  };
};

const parseEmpty = parserOnDemand(Closed({}));

/** Query members are text; unknown ones are ignored, those of another type are read as that. */
const queryParser = (schema: TObject) => {
  const parse = parserOnDemand(schema);
  const names = Object.keys(schema.properties);
  return (input: unknown): unknown => {
    const given = new Map(Object.entries(input ?? {}));
    const entries = names.filter((name) => given.has(name)).map((name) => [name, typed(schema, name, given.get(name))]);
    return parse(Object.fromEntries(entries));
  };
};

const typed = (schema: TObject, name: string, value: unknown): unknown => {
  const property = schema.properties[name];
  const type = property !== undefined && "type" in property ? property.type : undefined;
  if (type === "integer" && typeof value === "string" && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (type === "boolean" && (value === "true" || value === "false")) return value === "true";
  return value;
};
