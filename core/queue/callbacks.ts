import { hash } from "node:crypto";
import { type Static, Type } from "typebox";
import { type Callback, maxCallbackBytes } from "../channels/kit/callbacks.ts";
import { deflated, inflated } from "../domain/deflated.ts";
import { AppError, Unavailable } from "../errors.ts";
import { gather } from "../runtime/batching/gather.ts";
import { parser } from "../schema/json/parser.ts";
import { isOfOne } from "./jetstream/passing.ts";
import type { Publisher } from "./jetstream/publish.ts";
import type { Subjects } from "./subjects.ts";

const Text = Type.String({ maxLength: 65_536 });

const Queued = Type.Object({
  app_id: Text,
  provider: Text,
  part: Text,
  url: Text,
  content_type: Text,
  received_at: Type.String({ format: "date-time" }),
  /** Base64, deflated before. */
  body: Type.String(),
  file: Type.Optional(Text),
  unchecked: Type.Optional(Type.Literal(true)),
});
type Queued = Static<typeof Queued>;

const CallbackBatch = Type.Object({ tenant_id: Text, callbacks: Type.Array(Queued) });

/** Whose a callback is, and which provider's. */
export type CallbackOf = { tenantId: string; appId: string; provider: string };

export type CallbackQueue = {
  /**
   * Resolves when a callback is stored in the queue.
   * @throws Unavailable when the queue is away, or the tenant's share of it is full; AppError HS_PAYLOAD_TOO_LARGE
   */
  keep: (of: CallbackOf, callback: Callback) => Promise<void>;
};

/** What one message of the stream holds at most, so that a tenant has at most a quarter of it: see `callbackStream`. */
const mostBytes = 262_144;
/** The same once its bodies are inflated, so that whoever reads it needs no more memory than for the largest callback. */
const mostBodyBytes = maxCallbackBytes;
const batched = { most: 200, inFlight: 4, everyMs: 10 }; // under load many share a message; who follows a link waits for it

/** Puts callbacks into the queue; those of a tenant that come at the same time share a message. */
export const callbackQueue = ({ publisher, subjects }: CallbackQueueDeps): CallbackQueue => {
  const publish = async (tenantId: string, group: readonly QueuedCallback[]): Promise<boolean[]> => {
    const made = splitBySize(group).map(async (callbacks) => {
      const text = `{"tenant_id":${JSON.stringify(tenantId)},"callbacks":[${callbacks.map(({ text: one }) => one).join(",")}]}`;
      const id = hash("sha256", text, "base64url");
      const result = await publisher.publishText(subjects.callbacks(tenantId), text, { id });
      return callbacks.map(() => result === "published");
    });
    return (await Promise.all(made)).flat();
  };
  const keep = gather({
    write: async (all: readonly QueuedCallback[]) => {
      const groups = [...Map.groupBy(all, ({ tenantId }) => tenantId)];
      const published = await Promise.all(groups.map(([tenantId, group]) => publish(tenantId, group)));
      const results = new Map(
        groups.flatMap(([, group], i) => group.map((one, j) => [one, published[i]?.[j]] as const)),
      );
      return all.map((one) => results.get(one) === true);
    },
    ...batched,
    isOfOne,
  });
  return {
    keep: async ({ tenantId, ...of }, callback) => {
      if (callback.body.length > mostBodyBytes) throw tooLarge(mostBodyBytes);
      const text = JSON.stringify(queued(of, callback));
      if (text.length > mostBytes) throw tooLarge(mostBytes);
      const bodyBytes = callback.file === undefined ? callback.body.length : mostBodyBytes; // it shares a message with none
      if (!(await keep({ tenantId, text, bodyBytes }))) throw new Unavailable("the queue of callbacks");
    },
  };
};

const tooLarge = (bytes: number) =>
  new AppError("HS_PAYLOAD_TOO_LARGE", "the callback is too large", { limit_bytes: bytes });

export type CallbackQueueDeps = { publisher: Pick<Publisher, "publishText">; subjects: Pick<Subjects, "callbacks"> };

type QueuedCallback = { tenantId: string; text: string; bodyBytes: number };

const splitBySize = (group: readonly QueuedCallback[]): QueuedCallback[][] => {
  const parts: { of: QueuedCallback[]; bytes: number; bodyBytes: number }[] = [];
  for (const one of group) {
    const open = parts.at(-1);
    const bytes = one.text.length; // of ASCII but for the path, which is bounded
    const isRoom =
      open !== undefined && open.bytes + bytes <= mostBytes && open.bodyBytes + one.bodyBytes <= mostBodyBytes;
    if (!isRoom) parts.push({ of: [one], bytes, bodyBytes: one.bodyBytes });
    else {
      open.of.push(one);
      open.bytes += bytes;
      open.bodyBytes += one.bodyBytes;
    }
  }
  return parts.map(({ of }) => of);
};

const queued = ({ appId, provider }: Omit<CallbackOf, "tenantId">, callback: Callback): Queued => ({
  app_id: appId,
  provider,
  part: callback.part,
  url: callback.url,
  content_type: callback.contentType,
  received_at: callback.receivedAt.toISOString(),
  ...(callback.file !== undefined && { file: callback.file }),
  body: callback.file === undefined ? deflated(callback.body).toString("base64") : "",
  ...(callback.isUnchecked && { unchecked: true }),
});

/** Callbacks of one tenant that waited in one message of the stream. */
export type CallbackBatch = { callbacks: (CallbackOf & { callback: Callback })[] };

const parse = parser(CallbackBatch);

/** Reads a message of the stream. @throws ValidationError */
export const callbackBatch = (input: unknown): CallbackBatch => {
  const { tenant_id: tenantId, callbacks } = parse(input);
  return { callbacks: callbacks.map((one) => read(tenantId, one)) };
};

const read = (tenantId: string, { app_id: appId, provider, body, ...kept }: Queued) => ({
  tenantId,
  appId,
  provider,
  callback: {
    part: kept.part,
    url: kept.url,
    contentType: kept.content_type,
    receivedAt: new Date(kept.received_at),
    body: bodyOf(kept.file, body),
    ...(kept.file !== undefined && { file: kept.file }),
    ...(kept.unchecked && { isUnchecked: true as const }),
  },
});

/** That of a file is read from it later. */
const bodyOf = (file: string | undefined, body: string): Buffer =>
  file !== undefined ? Buffer.alloc(0) : inflated(Buffer.from(body, "base64"), maxCallbackBytes);
