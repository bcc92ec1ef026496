import { expect } from "chai";
import { allResources } from "#core/channels/all-resources.ts";
import { memberName } from "../../../../operator/policies/member-names.ts";

describe("the name of a record's member in its resource", () => {
  const cases: [kind: string, member: string, name: string][] = [
    ["Plan", "api_rps", "apiRps"],
    ["Tenant", "name", "displayName"],
    ["Tenant", "contact_email", "contact.email"],
    ["Tenant", "suspended_reason", "suspendedReason"],
    ["App", "time_zone", "settings.timeZone"],
    ["App", "idempotency_mismatch", "settings.idempotencyMismatch"],
    ["ApiKey", "app_ids", "appRefs"],
    ["Webhook", "app_id", "appRef"],
    ["Webhook", "timeout_ms", "timeoutMilliseconds"],
    ["Webhook", "status", "status"],
    ["LiveActivityType", "name", "name"],
    ["LiveActivityType", "content_state_schema", "contentStateSchema"],
    ["Incident", "started_at", "startedAt"],
  ];
  for (const [kind, member, name] of cases) {
    it(`${kind}: ${member} is ${name}`, () => {
      const definition = allResources.find((one) => one.kind === kind);
      expect(definition && memberName(definition, member)).to.equal(name);
    });
  }
});
