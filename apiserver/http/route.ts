import type { Static, TObject, TSchema } from "typebox";
import type { ErrorCode } from "#core/errors.ts";
import { Closed } from "#core/schema/json/common.ts";
import type { IdKind } from "#core/schema/vocabulary/id-prefixes.ts";
import type { PlanFeature } from "#core/schema/vocabulary/plan-features.ts";
import type { Scope } from "#core/schema/vocabulary/scopes.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Caller } from "../access/caller.ts";
import type { Device } from "../access/device.ts";
import type { Deprecation } from "./deprecation.ts";
import type { EventStream } from "./protocol/event-stream.ts";
import type { Form, ReadForm } from "./protocol/form.ts";
import { parserOnDemand, queryParser } from "./query.ts";

/** What is known before the resource is looked up: nothing of it is validated yet. */
export type Located<Use> = {
  /** The use cases of the operation's feature. */
  use: Use;
  params: Readonly<Record<string, string>>;
  /** As given, unparsed. */
  query: Readonly<Record<string, unknown>>;
  body: unknown;
  caller: Caller;
  /** Of routes that devices call, which have no caller. */
  device: Device;
  /** Finds an app that the caller may use. @throws NotFound for any other */
  findApp: (id: string) => Promise<AppRow>;
  signal: AbortSignal;
};

/** Makes the id of a new thing. */
export type NewId = (kind: IdKind) => string;

/** The same for each attempt at a request: its name, when it was begun first, and the ids of what it makes. */
export type Attempt = { newId: NewId; once: { id: string; begunAt: Date } };

/** What a handler gets: parsed, authorised, with the resource that the path names. */
export type Request<Use, B, Q, R> = Omit<Located<Use>, "query" | "body" | "findApp"> & {
  body: B;
  /** Reads the form of a route that has one. */
  form: ReadForm;
  query: Q;
  resource: R;
  header: (name: string) => string | undefined;
  /** Where the request came from. */
  ip: string;
  /** As the reply's `X-Request-Id` has it. */
  requestId: string;
  traceparent: string;
  /** Makes the ids of what it makes. */
  newId: NewId;
  /** A request with an idempotency key; null without one. */
  once: Attempt["once"] | null;
};

/** A reply; `status` when it is not the route's first. One that goes on has a stream beside an empty body. */
export type Answer<T> = { body: T; status?: number; headers?: Record<string, string>; stream?: EventStream };

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** How a request with an `Idempotency-Key` is answered again: with the first reply, or with what it made. */
export type Repeatable<R, T> = {
  /** Throws for what a schema cannot say of a request, before its key is looked at. */
  check?: (request: R) => void;
  /** Whether a used key with another body is always refused, whatever the app's setting. */
  refusesMismatch?: true;
  made?: (request: R) => Promise<Answer<T> | null>;
  show?: (request: R, id: string) => Promise<T>;
};

/** What an operation says of itself: routing, checks and the OpenAPI document follow from it. */
export type Operation = Described<TSchema, TObject, TSchema> & Common;

type Described<B extends TSchema, Q extends TObject, T extends TSchema> = {
  /** `operationId` of the OpenAPI document: the name that generated clients give it. */
  id: string;
  method: Method;
  /** As OpenAPI writes it: `/v1/apps/{appId}/users`. */
  path: string;
  summary: string;
  body?: B;
  /** Instead of a body in JSON: a form with a file, which the handler reads. `schema` is what the document says of it. */
  form?: Form & { schema: TObject };
  query?: Q;
  reply: T;
  /** Has replies named by an ETag, the handler's own or that of the body: who has that already gets 304. */
  hasEtag?: true;
  /** Of a route that answers with server-sent events: what their data is. Its handler gives a stream, and `reply` is text. */
  events?: TObject;
  /** What the caller's plan has to include: looked at before the input is parsed. */
  feature?: PlanFeature;
  /** Set when it will be taken away: its replies and the OpenAPI document say so. */
  deprecated?: Deprecation;
  /** Request headers that mean something here: name to description. */
  headers?: Record<string, string>;
  /** Error codes of this operation, besides those that follow from its other members or that every operation can give. */
  errors?: readonly ErrorCode[];
};

/** What operations of one feature mostly have in common. */
type Common = {
  tag: string;
  /**
   * Either suffices; `public` needs no key. Routes of devices take none: `app` has the id of an app in a header, `device` a
   * subscription's secret, too.
   */
  scopes: readonly Scope[] | "public" | "app" | "device";
  /** The reply's statuses, the usual one first; 200 when left out. */
  status: readonly [number, ...number[]];
};

/** How an operation is answered by the use cases of its feature. */
type Work<Use, B, Q, T, R> = {
  /** Finds what the path or the body names, or throws NotFound: before scopes are looked at. */
  locate?: (located: Located<Use>) => Promise<R>;
  /** Throws unless the caller's plan has room for it: behind its feature. */
  inPlan?: (asked: { use: Use; caller: Caller; resource: R }) => Promise<void>;
  /** For operations that make something, below an app: `Idempotency-Key` is honoured. */
  repeatable?: Repeatable<Request<Use, B, Q, R>, T>;
  handle: (request: Request<Use, B, Q, R>) => Promise<Answer<T>>;
};

/** An operation with what answers it. */
export type Route = Operation &
  Work<unknown, unknown, unknown, unknown, unknown> & {
    use: unknown;
    parseBody: (input: unknown) => unknown;
    parseQuery: (input: unknown) => unknown;
  };

/** An operation of a feature, to be answered once the feature's use cases are made. */
export type Declared<Use> = Operation & { isRepeatable: boolean; bind: (use: Use) => Route };

/** Whether requests may have a body; a POST without a schema takes an empty object, and refuses each member of one. */
export const mayHaveBody = ({ method, body }: Pick<Operation, "method" | "body">): boolean =>
  body !== undefined || method === "POST";

/**
 * Gives the function that declares operations which are answered by certain use cases; each may have another of what is
 * common. The compiler checks each handler against the schemas and the use cases; then the table forgets the types.
 */
export const routeOf =
  <Use>(common: Omit<Common, "status">) =>
  <B extends TSchema, Q extends TObject, T extends TSchema, R>(
    definition: Described<B, Q, T> & Partial<Common> & Work<Use, Static<B>, Static<Q>, Static<T>, R>,
  ): Declared<Use> => {
    const { locate, inPlan, repeatable, handle, ...said } = definition;
    const isRepeatable = repeatable !== undefined;
    const following = followingOf(said, { inPlan, repeatable });
    const operation = { status: [200], ...common, ...said, ...following } as Operation; // sound: its types forgotten
    const parseBody = said.body === undefined ? parseNoBody : parserOnDemand(said.body);
    const parseQuery = said.query === undefined ? () => ({}) : queryParser(said.query);
    // sound: use is what bind got; body, query and resource come from this operation's own parsers and locate
    const work = { locate, inPlan, repeatable, handle } as unknown as Pick<Route, keyof Work<unknown, 0, 0, 0, 0>>;
    return { ...operation, isRepeatable, bind: (use) => ({ ...operation, ...work, use, parseBody, parseQuery }) };
  };

const keyHeader = "the same key within 24 hours gives the first reply again; errors do not use it up";
const keyErrors = ["HS_IDEMPOTENCY_IN_PROGRESS", "HS_IDEMPOTENCY_KEY_REUSED"] as const;

/** The reply to an operation that gives nothing back, once it is done. */
export const done = async (work: Promise<void>): Promise<Answer<{ ok: true }>> => {
  await work;
  return { body: { ok: true } };
};

/** What an operation says of itself because of how it is answered. */
const followingOf = (
  { headers, feature, hasEtag, errors = [] }: Pick<Operation, "headers" | "feature" | "hasEtag" | "errors">,
  { inPlan, repeatable }: { inPlan?: unknown; repeatable?: unknown },
): Pick<Operation, "headers" | "errors"> => ({
  headers: {
    ...headers,
    ...(repeatable !== undefined && { "Idempotency-Key": keyHeader }),
    ...(hasEtag && { "If-None-Match": "the `ETag` of a former reply: 304 without a body when nothing changed since" }),
  },
  errors: [
    ...errors,
    ...(feature === undefined && inPlan === undefined ? [] : ["HS_PLAN_FEATURE_REQUIRED" as const]),
    ...(repeatable === undefined ? [] : keyErrors),
  ],
});

const parseEmpty = parserOnDemand(Closed({}));

const parseNoBody = (input: unknown): undefined => {
  if (input !== undefined) parseEmpty(input);
};
