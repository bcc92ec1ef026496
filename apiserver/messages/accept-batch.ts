import { mapBounded } from "#core/runtime/batching/bounded.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { BatchedNotification, NotificationsBatched } from "#core/schema/messages/batch.ts";
import { CreateNotification } from "#core/schema/messages/notification.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Caller } from "../access/caller.ts";
import { idempotencyKey } from "../http/idempotency-key.ts";
import { requireApp } from "../http/locate.ts";
import { asAppError, errorBody, statusOf } from "../http/protocol/problem.ts";
import type { Accepted, AcceptRequest } from "./accept.ts";

export type AcceptBatchDeps = {
  limit: (caller: Caller, app: AppRow) => Promise<void>;
  accept: (request: AcceptRequest, signal: AbortSignal) => Promise<Accepted>;
  /** Notes an error that says nothing to the caller. */
  onFailure: (error: unknown, requestId: string) => void;
};

export type BatchRequest = {
  caller: Caller;
  items: readonly unknown[];
  /** The app that an item names. @throws NotFound */
  appOf: (item: unknown) => Promise<AppRow | null>;
  requestId: string;
  traceparent: string;
};

/** Enough to share writes; a batch takes no more of the process than so many single requests. */
const atOnce = 16;

/**
 * Accepts notifications one by one, each as `POST /v1/notifications` would: what is refused of one concerns no other. A
 * batch that is repeated gives the first result again for items with a key. Source: docs/reference/notification-operations.md#batches.
 */
export const acceptBatch =
  (deps: AcceptBatchDeps) =>
  async (batch: BatchRequest, signal: AbortSignal): Promise<NotificationsBatched> => {
    const one = async ([index, item]: [number, unknown]): Promise<BatchedNotification> => {
      try {
        return { index, ...(await acceptOne(deps, batch, item, signal)) };
      } catch (error) {
        const known = asAppError(error);
        if (known.code === "HS_INTERNAL_ERROR") deps.onFailure(error, batch.requestId);
        return { index, status: statusOf(known), replayed: false, body: errorBody(known, batch.requestId) };
      }
    };
    return { results: await mapBounded([...batch.items.entries()], atOnce, one, signal) };
  };

const parse = parser(CreateNotification);

const acceptOne = async (
  { limit, accept }: AcceptBatchDeps,
  { caller, appOf, traceparent }: BatchRequest,
  item: unknown,
  signal: AbortSignal,
): Promise<Omit<BatchedNotification, "index">> => {
  const named = await appOf(item);
  const body = parse(item);
  const app = requireApp(named);
  await limit(caller, app);
  const key = idempotencyKey(undefined, body.idempotency_key);
  const { result, replayed } = await accept({ caller, app, body, key, traceparent }, signal);
  return { status: 202, replayed, body: result };
};
