import { expect } from "chai";
import type { Db } from "mongodb";
import { makeEvent } from "#core/domain/events/make.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import {
  type WebhookDeliveryRow,
  webhookDeliveries,
  webhookDeliveryCollection,
} from "#core/storage/webhooks/deliveries.ts";
import { type WebhookRow, webhookCollection, webhookWork } from "#core/storage/webhooks/webhooks.ts";
import { deliveryOf, written } from "../../../dispatcher/webhooks/accept/delivery.ts";
import { healthNotes } from "../../../dispatcher/webhooks/health/notes.ts";
import type { EndpointKey } from "../../../dispatcher/webhooks/partitions/endpoints.ts";
import { charactersOf } from "../../../dispatcher/webhooks/queue/pending-deliveries.ts";
import { EndpointQueues, type EndpointQueuesDeps } from "../../../dispatcher/webhooks/queues/endpoint-queues.ts";
import { prepare } from "../../../dispatcher/webhooks/send/prepare.ts";
import type { SendWebhook } from "../../../dispatcher/webhooks/send/send-webhook.ts";
import { partitionOfEndpoint, partitions } from "../rows/partitioning.ts";
import { aWebhook } from "../rows/webhooks.ts";
import { suspensionsOf } from "../rows/work.ts";
import { testDatabase } from "../servers/database.ts";
import { until } from "../until.ts";

let aheadMs = 0;

/** What tells endpoint queues the time. */
export const clock = { now: () => new Date(Date.now() + aheadMs) };
const answered = { duration_ms: 1, error_class: null, error: null, response_body_excerpt: null, response_status: 200 };

/** A request that the endpoint accepts. */
export const succeed: SendWebhook = async (_endpoint, { _id, attempt }) => ({
  result: {
    _id,
    attempt: attempt + 1,
    status: "success",
    due_at: null,
    delivered_at: clock.now(),
    made: { at: clock.now(), ...answered },
  },
  isGone: false,
});

/** Places deliveries that are made already. */
export const place = (
  queues: EndpointQueues,
  endpoint: WebhookRow,
  rows: readonly WebhookDeliveryRow[],
): Promise<void> => queues.place(endpoint, { count: rows.length, characters: charactersOf(rows) }, () => rows);

/** Has the queue of an endpoint opened, and look into the store. */
export const look = async (queues: EndpointQueues, endpoint: WebhookRow): Promise<void> => {
  queues.expect(keyOf(endpoint));
  await until(() => queues.size > 0);
};

/** Waits until no queue is open: each stays for 5 s after its last request, which go by faster meanwhile. */
export const isIdle = (queues: EndpointQueues): Promise<void> =>
  until(() => {
    if (queues.size > 0) aheadMs += 250;
    return queues.size === 0;
  });

/** Endpoint queues on a real database of their own, with requests that always succeed. To be made inside of a `describe`. */
export const endpointQueueTests = (name: string) => {
  const db = testDatabase(name);
  let made = 0;
  let running: Dispatcher[] = [];

  afterEach(async () => {
    await Promise.all(running.map((one) => one.stop()));
    running = [];
    aheadMs = 0;
  });

  const work = () => webhookWork(db());
  const endpointRows = () => collectionOf<WebhookRow>(db(), webhookCollection);
  const deliveryRows = () => collectionOf<WebhookDeliveryRow>(db(), webhookDeliveryCollection);
  return {
    work,
    endpointRows,
    deliveryRows,
    endpointNow: ({ _id }: WebhookRow) => endpointRows().findOne({ _id }),
    deliveries: () => webhookDeliveries(db()),
    deliveriesOf: ({ _id }: WebhookRow) => deliveryRows().find({ endpoint_id: _id }).toArray(),
    anEndpoint: async (over: Partial<WebhookRow> = {}): Promise<WebhookRow> => {
      const row = aWebhook({ _id: `whk_${++made}`, last_success_at: new Date(), ...over });
      await endpointRows().insertOne({ ...row });
      return row;
    },
    rowsFor: (endpoint: WebhookRow, count: number, subjectId: string | null = null): WebhookDeliveryRow[] =>
      Array.from({ length: count }, () => {
        const facts = {
          kind: "user.deleted",
          appId: "app_1",
          data: {},
          at: clock.now(),
          from: [String(++made)],
        } as const;
        return deliveryOf(endpoint, written(makeEvent({ ...facts, subjectId })), clock.now());
      }),
    /** The endpoint queues of a dispatcher that owns every partition; what it sent and stored, and whose owners it notified. */
    aDispatcher: async (replaced: Replaced = {}) => {
      const dispatcher = started(db(), replaced);
      await dispatcher.start();
      running.push(dispatcher);
      return dispatcher;
    },
  };
};

type Dispatcher = ReturnType<typeof started>;

type Replaced = Partial<Pick<EndpointQueuesDeps, "clock"> & { send: SendWebhook; holder: { fence: number | null } }> & {
  deliveries?: Partial<EndpointQueuesDeps["deliveries"]>;
  endpoints?: Partial<EndpointQueuesDeps["endpoints"]>;
};

/** Whose an endpoint is. */
export const keyOf = (row: Pick<WebhookRow, "_id" | "app_id" | "partition">): EndpointKey => ({
  id: row._id,
  partition: partitionOfEndpoint(row),
});

const started = (
  db: Db,
  { send = succeed, deliveries: replaced, endpoints: others, clock: given = clock, holder = { fence: 1 } }: Replaced,
) => {
  const [sent, stored, notified]: [string[], string[], string[]] = [[], [], []];
  const { keep, record, ...reads } = webhookDeliveries(db);
  const log = createLog({ program: "dispatcher", level: "fatal" });
  let notify: (endpoint: EndpointKey) => void = () => {};
  let isGivingUp = false;
  const work = webhookWork(db);
  const endpoints = {
    ...work,
    keyOf,
    notify: ({ id }: EndpointKey) => void notified.push(id),
    keyOfId: async (id: string) => keyOf((await work.find(id)) ?? expect.fail("no such endpoint")),
    onNotice: async (listener: (endpoint: EndpointKey) => void) => {
      notify = listener;
      return () => {};
    },
    announce: () => {},
    ...others,
  };
  const notes = healthNotes({ endpoints, log });
  const queues = new EndpointQueues({
    endpoints,
    partitions: { fenceOf: () => (isGivingUp ? null : holder.fence), isOwned: () => holder.fence !== null },
    notes,
    deferred: () => {},
    fellBack: () => {},
    deliveries: {
      ...reads,
      keep: async (row) => {
        stored.push(row.status);
        await keep([row]);
      },
      record: (result) => record([result]),
      recover: async () => expect.fail("nothing is to be recovered"),
      ...replaced,
    },
    requests: {
      prepare: (row) => prepare(row, () => "whsec_AAAA"),
      send: (endpoint, delivery) => {
        sent.push(delivery._id);
        return send(endpoint, delivery);
      },
    },
    health: { observe: () => {} },
    suspensions: suspensionsOf(),
    log,
    clock: given,
  });
  const drainAll = async (): Promise<void> => {
    isGivingUp = true;
    await Promise.all(partitions.map((partition) => queues.drain(partition)));
  };
  return {
    queues,
    sent,
    stored,
    notified,
    notify: (endpoint: WebhookRow) => notify(keyOf(endpoint)),
    /** As when all partitions are given up. */
    drainAll,
    start: async () => {
      await notes.start(AbortSignal.timeout(10_000));
      await queues.start();
    },
    stop: async () => {
      await drainAll();
      await queues.stop();
      await notes.stop(AbortSignal.timeout(10_000));
    },
  };
};
