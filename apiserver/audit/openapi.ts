import type { AuditEntry } from "#core/schema/audit/audit.ts";
import { exampleTime } from "#core/schema/events/refs.ts";
import type { Docs } from "../http/feature.ts";

const actor = { type: "api_key" as const, id: "key_01JDKQ4WSM8V5CRA2E9MHX3TNB" };
const webhook = "whk_01JDKQ4WSM1D4JZQ9F6TCY0EAV";
const entry: AuditEntry = {
  id: "aud_01JDKQ4WSM6T3EYB8K5NRC1VHX",
  at: exampleTime,
  actor,
  action: "webhook.updated",
  target: { type: "webhook", id: webhook },
  app_id: "app_01JDKQ4WSM6T3EYB8K5NRC1VHX",
  changes: { batch: { before: false, after: true } },
  ip: "192.0.2.10",
  request_id: "01JDKQ4WSM6T3EYB8K5NRC1VHY",
};

/** What the OpenAPI document says of the audit log beside its operations. */
export const docs: Docs = {
  tags: { "Audit log": "Who changed what of an organisation and its apps." },
  examples: {
    AuditActor: [actor],
    AuditEntry: [entry],
    AuditPage: [{ data: [entry], next_cursor: null, has_more: false }],
  },
  queryExamples: { actor: actor.id, action: "webhook.updated", target_type: "webhook", target_id: webhook },
};
