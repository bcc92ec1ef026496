import type { Middleware as KoaMiddleware, ParameterizedContext } from "koa";
import type { AppError, ValidationError } from "#core/errors.ts";
import type { Span } from "#core/runtime/tracing/tracer.ts";
import type { Caller } from "../access/caller.ts";
import type { Device } from "../access/device.ts";
import type { EventStream } from "./protocol/event-stream.ts";
import type { ReadForm } from "./protocol/form.ts";
import type { Route } from "./route.ts";

/** A body that is sent as it is read, instead of the text; without `open`, as the reply to HEAD, only its size is told. */
export type LongBody = { sizeBytes: number; open?: (signal: AbortSignal) => Promise<AsyncIterable<Uint8Array> | null> };

/** What the middleware learn about a request, in order. */
export type State = {
  requestId: string;
  /** W3C trace context: the caller's, with a span of ours, or a new one. */
  traceparent: string;
  /** The request's span when it is recorded. */
  span: Span | null;
  startedAt: number;
  /** Of the reply; what comes later replaces what was there. */
  headers: Record<string, string>;
  /** `text` is JSON, but outside of `/v1`. Set when everything below {@link writeReply} has ended. */
  reply: { status: number; text: string | Buffer; long?: LongBody; stream?: EventStream };
  /** Aborts when the client is gone or the request has taken too long. */
  signal: AbortSignal;
  /** What metrics and logs call the request, once that is known. */
  matched?: { method: string; path: string };
  /** Set once the route is known; what follows runs for known routes only. */
  route: Route;
  params: Record<string, string>;
  /** Set for routes that need a key. */
  caller?: Caller;
  /** Set for routes that devices call. */
  device?: Device;
  body: unknown;
  /** Of the body, inflated, as far as it was read; of a form as large as its head says. */
  bodyBytes?: number;
  /** What is wrong with the form of the body, which is then undefined. */
  bodyFault?: ValidationError;
  /** Reads the form of a route that takes one. */
  form?: ReadForm;
  resource: unknown;
};

export type Context = ParameterizedContext<State>;
export type Middleware = KoaMiddleware<State>;

/** One of the checks that a request has to pass: gives null when it does, else the refusal, or throws it (5 µs more). */
export type Check = (ctx: Context) => Refusal | Promise<Refusal>;
type Refusal = AppError | null;
