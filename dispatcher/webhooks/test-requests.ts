import type { Msg } from "@nats-io/nats-core";
import { type Static, Type } from "typebox";
import type { Clock } from "#core/domain/clock.ts";
import { newId } from "#core/domain/ids.ts";
import { longestTestMs } from "#core/domain/webhooks/test.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { eventTypes } from "#core/schema/events/catalogue.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { DateTime } from "#core/schema/json/common.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { WebhookDeliveries } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { testAnswers } from "../work/test-answers.ts";
import { deliveryOf, written } from "./accept/delivery.ts";
import type { Sent, WebhookRequests } from "./send/send-webhook.ts";

export type TestRequestsDeps = {
  nats: Pick<Nats, "nc">;
  subject: string;
  find: (endpointId: string) => Promise<WebhookRow | null>;
  deliveries: Pick<WebhookDeliveries, "begin" | "find" | "record">;
  requests: WebhookRequests;
  clock: Clock;
  log: Log;
};

const Id = Type.String({ minLength: 1, maxLength: 64 });
const TestRequest = Type.Object({
  endpoint_id: Id,
  /** The same when the test is asked for again; absent from an apiserver of the release before. */
  event: Type.Optional(Type.Object({ id: Id, at: DateTime })),
});
const testRequest: (input: unknown) => Static<typeof TestRequest> = parser(TestRequest);

/** What is answered to a request for a test. */
export type TestReply = { outcome: "sent"; delivery_id: string } | { outcome: "gone" | "busy" | "failed" };

const mostAtOnce = 32; // so many endpoints may hang without delaying other tests

/**
 * Answers requests for tests of endpoints, each when the endpoint has answered or failed to. A test neither changes
 * the endpoint's health nor depends on its state. One event is sent once, however often it is asked for and whoever was
 * killed meanwhile.
 */
export const testRequests = (deps: TestRequestsDeps): Part =>
  testAnswers({ ...deps, what: "webhook", mostAtOnce, test: (message) => test(deps, message) });

const test = async (deps: TestRequestsDeps, message: Msg): Promise<TestReply> => {
  const now = deps.clock.now();
  const { endpoint_id: id, event = { id: newId("event", now), at: now.toISOString() } } = testRequest(message.json());
  const found = await deps.find(id);
  if (found === null) return { outcome: "gone" };
  const endpoint = { ...found, timeout_ms: Math.min(found.timeout_ms, longestTestMs) };
  const delivery = { ...deliveryOf(endpoint, written(testEvent(endpoint, event)), now), ...begun };
  if (!(await deps.deliveries.begin(delivery))) return repeated(deps, delivery._id, now);
  const { result } = await deps.requests.send(deps.requests.prepare(endpoint), delivery);
  await deps.deliveries.record([ended(result)]);
  deps.log.info({ app: found.app_id, endpoint: id, delivery: delivery._id, status: result.status }, "webhook.tested");
  return { outcome: "sent", delivery_id: delivery._id };
};

const begun = { status: "dead", due_at: null, error: "no result: the test is under way, or was cut short" } as const;

/** What answers a request for a test that was begun before. */
const repeated = async ({ deliveries }: TestRequestsDeps, id: string, now: Date): Promise<TestReply> => {
  const row = await deliveries.find(id);
  if (row === null) return { outcome: "gone" };
  const isUnderWay = row.attempt === 0 && now.getTime() - row.created_at.getTime() < longestTestMs;
  return isUnderWay ? { outcome: "busy" } : { outcome: "sent", delivery_id: id };
};

const testEvent = ({ app_id: appId }: WebhookRow, { id, at }: { id: string; at: string }): EventEnvelope => ({
  id,
  type: "webhook.test",
  timestamp: at,
  app_id: appId,
  subject_id: null,
  api_version: "1.0",
  data: eventTypes["webhook.test"].example,
});

/** A test is one request, which is not tried again when it fails. */
const ended = (result: Sent["result"]): Sent["result"] => ({
  ...result,
  status: result.status === "success" ? "success" : "dead",
  due_at: null,
});
