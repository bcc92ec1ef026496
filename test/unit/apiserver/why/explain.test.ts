import { expect } from "chai";
import type { WhyGateName } from "#core/schema/why/why.ts";
import { whyGates } from "#core/schema/why/why.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { findSuppressed } from "#core/storage/suppressions/find-suppressed.ts";
import type { SaidEntry } from "#core/storage/suppressions/suppressions.ts";
import { explain } from "../../../../apiserver/why/explain.ts";
import { allGates } from "../../../../apiserver/why/gates/all.ts";
import type { Seen } from "../../../../apiserver/why/gates/gate.ts";
import { openGates } from "../../../../dispatcher/messages/gates/all.ts";
import type { SuppressionReason } from "../../../../dispatcher/messages/gates/gate.ts";
import { session } from "../../../../dispatcher/messages/gates/session.ts";
import { subscriptionState } from "../../../../dispatcher/messages/gates/subscription-state.ts";
import { testDevices } from "../../../../dispatcher/messages/gates/test-devices.ts";
import { suppressionGate } from "../../../../dispatcher/suppressions/gate.ts";
import { aUser } from "../../../support/rows/fixtures.ts";
import { aChunk, aMessage, aSubscription, noon } from "../../../support/rows/work.ts";

describe("why somebody got a notification, or did not", () => {
  const before = new Date(noon.getTime() - 86_400_000);
  const old = { created_at: before, updated_at: before };
  const message = (change: Partial<MessageRow> = {}): MessageRow =>
    aMessage({
      status: "completed",
      planned: true,
      created_at: noon,
      started_at: noon,
      completed_at: noon,
      target: { all: true },
      ...change,
    });
  const seen = (change: Partial<Seen> = {}): Seen => {
    const subscription = aSubscription({ ...old, ...change.subscription });
    const { tenant_id, app_id, user_id: _id } = subscription;
    return {
      message: message(),
      aim: null,
      chosen: { subscriptionIds: new Set(), userIds: new Set() },
      person: aUser({ tenant_id, app_id, _id, ...old }),
      delivery: null,
      entries: [],
      counted: [],
      configured: new Set(["ios_push", "email", "whatsapp"]),
      now: noon,
      ...change,
      subscription: change.subscription === null ? null : subscription,
    };
  };
  const delivery = (change: Partial<DeliveryRow>): DeliveryRow =>
    ({ _id: "dlv_1", channel: "ios_push", status: "sent", attempts: 1, ...old, ...change }) as DeliveryRow; // what is read of it
  const entry = (change: Partial<SaidEntry> = {}): SaidEntry => ({
    _id: "sup_1",
    reason: "manual",
    categories: null,
    source: "api",
    created_at: before,
    expires_at: null,
    ...change,
  });

  it("has its gates in the order of their names, each once", () => {
    expect(allGates.map(({ gate }) => gate)).to.deep.equal([...whyGates]);
  });

  /** Every reason that a gate of the dispatcher gives, and the gate that explains it: the compiler asks for each. */
  const gateOfReason: Record<SuppressionReason, WhyGateName> = {
    unsubscribed: "subscription",
    invalid_subscription: "subscription",
    not_test_device: "test_device",
    session_closed: "session",
    local_time_missed: "local_time",
    quiet_hours: "quiet_hours",
    frequency_cap: "frequency_cap",
    control_group: "variant",
    quota: "fallback",
    duplicate_user: "one_per_user",
    superseded: "superseded",
    already_started: "activity",
    no_update_token: "activity",
    template_abort: "render",
    suppression_hard_bounce: "suppression",
    suppression_complaint: "suppression",
    suppression_unsubscribe: "suppression",
    suppression_carrier_opt_out: "suppression",
    suppression_invalid_address: "suppression",
    suppression_soft_bounce: "suppression",
    suppression_legal: "suppression",
    suppression_manual: "suppression",
  };
  it("names the gate that left each suppressed delivery, and says it in words", () => {
    for (const [suppression_reason, gate] of Object.entries(gateOfReason)) {
      const found = explain(seen({ delivery: delivery({ status: "suppressed", suppression_reason }) }));
      expect(found.decided_by, suppression_reason).to.equal(gate);
      expect(found.gates.at(-1)).to.include({ gate, verdict: "stop", evidence: "exact" });
      expect(found.sentence).to.match(/^It did not arrive: .{10,}\.$/);
    }
  });

  // Each cause is planted for the gates of the dispatcher and for those that explain: they are the same functions.
  type Planted = {
    it: string;
    gate: WhyGateName | "send";
    to?: Partial<SubscriptionRow>;
    of?: Partial<MessageRow>;
    entries?: SaidEntry[];
  };
  const planted: Planted[] = [
    { it: "nothing", gate: "send" },
    { it: "an unsubscribed one", gate: "subscription", to: { status: "unsubscribed" } },
    { it: "an invalid one", gate: "subscription", to: { status: "invalid" } },
    {
      it: "an unsubscribed mail address that it may reach",
      gate: "send",
      to: { channel: "email", token: "a@example.com", status: "unsubscribed" },
      of: { channels: ["email"], options: { include_unsubscribed: true } },
    },
    { it: "no test device", gate: "test_device", of: { target: { all: true, test_devices_only: true } } },
    {
      it: "a test device",
      gate: "send",
      to: { test_device: true },
      of: { target: { all: true, test_devices_only: true } },
    },
    { it: "an entry of the list", gate: "suppression", entries: [entry()] },
    {
      it: "an entry for its category",
      gate: "category",
      of: { category: "news" },
      entries: [entry({ categories: ["news"], reason: "unsubscribe" })],
    },
    {
      it: "an entry for another category",
      gate: "send",
      of: { category: "news" },
      entries: [entry({ categories: ["offers"] })],
    },
    {
      it: "a closed session",
      gate: "session",
      to: { channel: "whatsapp", token: "+491511234567" },
      of: { channels: ["whatsapp"] },
    },
    {
      it: "an open session",
      gate: "send",
      to: { channel: "whatsapp", token: "+491511234567", session_expires_at: new Date(noon.getTime() + 3_600_000) },
      of: { channels: ["whatsapp"] },
    },
  ];
  for (const { it: what, gate, to = {}, of = {}, entries = [] } of planted)
    it(`decides and explains alike: ${what}`, async () => {
      const one = seen({ subscription: aSubscription({ ...old, ...to }), message: message(of), entries });
      const clock = { now: () => noon };
      const listed = findSuppressed({
        suppressions: {
          isAny: async () => entries.length > 0,
          about: async (_of, _channel, subjects) => entries.map((found) => ({ ...found, subject: subjects[0] ?? "" })),
        },
        subjectsOf: async () => (about) => about,
        clock,
      });
      const recipient = { ...aSubscription({ ...old, ...to }), external_id: "ada" };
      const gates = [subscriptionState, testDevices, suppressionGate(listed), session(clock)];
      const decided = (await openGates(gates, one.message, [recipient], aChunk()))(recipient);
      const found = explain(one);
      expect(found.decided_by).to.equal(gate);
      expect(decided === null ? "send" : gateOfReason[decided]).to.equal(gate === "category" ? "suppression" : gate);
    });

  it("says what is stored as exact, what is asked again as replayed, and what changed since", () => {
    const evidence = (one: Seen) => explain(one).gates.at(-1);
    const stopped = { subscription: aSubscription({ ...old, status: "invalid" }) };
    expect(evidence(seen(stopped))).to.include({ gate: "subscription", evidence: "replayed" });
    const later = { ...old, updated_at: new Date(noon.getTime() + 1) };
    const changed = evidence(seen({ subscription: aSubscription({ ...later, status: "invalid" }) }));
    expect(changed).to.include({ evidence: "changed_since" });
    expect((changed?.facts as { changed: string[] } | undefined)?.changed).to.deep.equal(["subscription"]);
    expect(evidence(seen({ delivery: delivery({ status: "failed", error_code: "TOKEN_UNREGISTERED" }) }))).to.include({
      gate: "send",
      evidence: "exact",
    });
  });

  const messages: [it: string, of: Partial<Seen>, decided: WhyGateName | null, says: string][] = [
    ["a cancelled one", { message: message({ status: "cancelled" }) }, "accepted", "it was cancelled"],
    ["one that failed", { message: message({ status: "failed", error: "HS_EXPIRED" }) }, "accepted", "HS_EXPIRED"],
    [
      "a scheduled one",
      {
        message: message({
          status: "queued",
          planned: false,
          completed_at: null,
          scheduled_for: new Date(noon.getTime() + 1),
        }),
      },
      "accepted",
      "It is not decided yet: it is scheduled for",
    ],
    [
      "one that is being sent",
      { message: message({ status: "processing", completed_at: null }) },
      "send",
      "It is not decided yet",
    ],
    [
      "one on another channel",
      { message: message({ channels: ["email"] }) },
      "channel",
      "it does not go over ios_push",
    ],
    [
      "one for other ids",
      { message: message({ target: { include_external_ids: ["bob"] } }) },
      "targeted",
      "does not mean them",
    ],
    ["somebody unknown", { person: null, subscription: null }, "targeted", "the app does not know them"],
    [
      "somebody who came later",
      { subscription: aSubscription({ created_at: new Date(noon.getTime() + 1) }) },
      "targeted",
      "not there yet",
    ],
    ["somebody without a subscription", { subscription: null }, "channel", "they have no subscription"],
    [
      "one of a live activity",
      { message: message({ live_activity: {} as MessageRow["live_activity"] & object }) },
      "targeted",
      "the devices of a live activity",
    ],
    [
      "one that arrived",
      { delivery: delivery({ sent_at: noon, delivered_at: noon, status: "delivered" }) },
      null,
      "It arrived at 2026-03-01T12:00:00.000Z.",
    ],
    [
      "one that was clicked",
      { delivery: delivery({ sent_at: noon, clicked_at: noon, status: "clicked" }) },
      null,
      "they clicked it",
    ],
    ["one that was sent", { delivery: delivery({ sent_at: noon }) }, null, "nothing says yet whether it arrived"],
    [
      "one that bounced",
      {
        delivery: delivery({
          sent_at: noon,
          bounced_at: noon,
          status: "bounced",
          error_code: "HARD_BOUNCE",
          provider_code: "5.1.1",
        }),
      },
      "receipt",
      "it bounced: HARD_BOUNCE (5.1.1)",
    ],
    ["one whose ttl passed", { delivery: delivery({ status: "expired", expired_at: noon }) }, "send", "its ttl passed"],
    [
      "one that waits",
      { delivery: delivery({ status: "scheduled", scheduled_for: noon }) },
      "send",
      "It is not decided yet: it is to be sent at 2026-03-01T12:00:00.000Z",
    ],
    [
      "one that failed for now",
      { delivery: delivery({ status: "scheduled", scheduled_for: noon, resend_until: noon }) },
      "send",
      "it is to be sent again at 2026-03-01T12:00:00.000Z",
    ],
    [
      "a delivery of a subscription that is gone",
      { subscription: null, delivery: delivery({ status: "failed", error_code: "TOKEN_UNREGISTERED" }) },
      "send",
      "TOKEN_UNREGISTERED",
    ],
  ];
  for (const [what, of, decided, says] of messages)
    it(`explains ${what}`, () => {
      const { decided_by, sentence } = explain(seen(of));
      expect(decided_by).to.equal(decided);
      expect(sentence).to.contain(says);
    });
});
