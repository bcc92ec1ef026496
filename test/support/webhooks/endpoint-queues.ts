import { expect } from "chai";
import type { Db } from "mongodb";
import { makeEvent } from "#core/domain/events/make.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { type WebhookDeliveryRow, webhookDeliveries } from "#core/storage/webhooks/deliveries.ts";
import { type WebhookRow, webhookWork } from "#core/storage/webhooks/webhooks.ts";
import { sweepAfter } from "#core/storage/work/due.ts";
import { deliveryOf, written } from "../../../dispatcher/webhooks/match/delivery.ts";
import { prepare } from "../../../dispatcher/webhooks/send/prepare.ts";
import type { SendWebhook } from "../../../dispatcher/webhooks/send/send.ts";
import {
  type EndpointQueues,
  type EndpointQueuesDeps,
  endpointQueues,
} from "../../../dispatcher/webhooks/share/endpoint-queues.ts";
import { aWebhook } from "../rows/webhooks.ts";
import { suspensionsOf } from "../rows/work.ts";
import { testDatabase } from "../servers/database.ts";
import { until } from "../until.ts";

const clock = { now: () => new Date() };
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

/** Shares deliveries that are made already. */
export const share = (
  queues: EndpointQueues,
  endpoint: WebhookRow,
  rows: readonly WebhookDeliveryRow[],
): Promise<void> => queues.share(endpoint, rows.length, () => rows);

/** EndpointQueues on a real database of their own, with requests that always succeed. To be made inside of a `describe`. */
export const endpointQueueTests = (name: string) => {
  const db = testDatabase(name);
  let made = 0;
  let running: EndpointQueues[] = [];

  afterEach(async () => {
    await Promise.all(running.map((one) => one.stop(AbortSignal.timeout(10_000))));
    running = [];
  });

  const work = () => webhookWork(db());
  const endpointNow = ({ _id }: WebhookRow) => work().rows.findOne({ _id });
  return {
    work,
    endpointNow,
    deliveries: () => webhookDeliveries(db()),
    deliveriesOf: ({ _id }: WebhookRow) => webhookDeliveries(db()).rows.find({ endpoint_id: _id }).toArray(),
    /** Waits until an endpoint was given back: it is kept for 2 s after its last request. */
    isGivenBack: (endpoint: WebhookRow) => until(async () => (await endpointNow(endpoint))?.lease === null, 20_000),
    anEndpoint: async (over: Partial<WebhookRow> = {}): Promise<WebhookRow> => {
      const row = aWebhook({ _id: `whk_${++made}`, last_success_at: new Date(), ...over });
      await work().rows.insertOne({ ...row });
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
    /** The endpoint queues of a dispatcher; what it sent and stored, and which endpoints it hinted at. */
    aDispatcher: async (replaced: Replaced = {}) => {
      const dispatcher = started(db(), `h${running.length}`, replaced);
      await dispatcher.queues.start(AbortSignal.timeout(10_000));
      running.push(dispatcher.queues);
      return dispatcher;
    },
  };
};

type Replaced = Partial<Pick<EndpointQueuesDeps, "clock"> & { send: SendWebhook }> & {
  deliveries?: Partial<EndpointQueuesDeps["deliveries"]>;
};

const started = (db: Db, holder: string, { send = succeed, deliveries: replaced, clock: given = clock }: Replaced) => {
  const [sent, stored, hinted, notified]: [string[], string[], string[], string[]] = [[], [], [], []];
  const { keep, record, ...reads } = webhookDeliveries(db);
  const endpoints = webhookWork(db);
  let notify: (endpointId: string) => void = () => {};
  const queues = endpointQueues({
    endpoints: {
      ...endpoints,
      makeDueAndHint: async (id) => {
        await endpoints.makeDue([id], sweepAfter(clock.now()));
        hinted.push(id);
      },
      notifyHolder: (id) => void notified.push(id),
      onNotice: async (listener) => {
        notify = listener;
        return () => {};
      },
      announce: () => {},
    },
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
    holder,
    log: createLog({ program: "dispatcher", level: "fatal" }),
    clock: given,
  });
  return { queues, sent, stored, hinted, notified, notify: (id: string) => notify(id) };
};
