import { exampleTime, examples as refs } from "#core/schema/events/refs.ts";
import type { Why, WhyGate, WhyRecipient, WhySummary } from "#core/schema/why/why.ts";
import type { Docs } from "../http/feature.ts";
import { pathPart } from "../http/openapi/parameters.ts";

const exact = { at: exampleTime, evidence: "exact" as const };

const gates: WhyGate[] = [
  { gate: "accepted", verdict: "pass", facts: { status: "completed", scheduled_for: null }, ...exact },
  { gate: "targeted", verdict: "pass", facts: { by: ["segments"] }, at: null, evidence: "replayed" },
  {
    gate: "segment",
    verdict: "stop",
    at: null,
    facts: {
      segments: [
        {
          segment_id: "seg_01JDKQ4WSM0Q2V6E3T8YB4ZC9N",
          member: false,
          conditions: [{ path: "filter.all[0]", value: "silver", passed: false }],
        },
      ],
      changed: ["user"],
    },
    evidence: "changed_since",
  },
];

const recipient: WhyRecipient = {
  subscription_id: refs.subscription_id,
  channel: "ios_push",
  address_masked: "ad…0f",
  delivery_id: null,
  decided_by: "segment",
  sentence: "It did not arrive: they are in none of its segments.",
  gates,
};

const why: Why = {
  message_id: refs.message_id,
  user_id: refs.user_id,
  external_id: refs.external_id,
  sentence: recipient.sentence,
  recipients: [recipient],
  as_of: exampleTime,
};

const summary: WhySummary = {
  message_id: refs.message_id,
  recipients: 1_000,
  excluded: 40,
  gates: [
    { gate: "excluded", verdict: "stop", reason: null, count: 40 },
    { gate: "suppression", verdict: "stop", reason: "suppression_unsubscribe", count: 12 },
    { gate: "send", verdict: "stop", reason: "TOKEN_UNREGISTERED", count: 8 },
    { gate: "send", verdict: "pass", reason: null, count: 980 },
  ],
  is_planned: true,
  as_of: exampleTime,
};

/** What the OpenAPI document says of why beside its operations. */
export const docs: Docs = {
  examples: { WhyGate: gates, WhyRecipient: [recipient], Why: [why], WhySummary: [summary] },
  pathParameters: { messageId: pathPart("id of a notification", refs.message_id) },
  queryExamples: {
    address: "ada@example.com",
    external_id: refs.external_id,
    subscription_id: refs.subscription_id,
  },
};
