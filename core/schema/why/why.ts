import { type Static, Type } from "typebox";
import { ChannelName, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { patterns } from "../json/patterns.ts";

const { Array: List, Enum, Integer, Object: Members, Optional, String: Text } = Type;

/**
 * What a notification passes on its way to a recipient, in this order. What each asks is in `apiserver/why/gates/all.ts`.
 * Source: docs/reference/why.md#gates.
 */
export const whyGates = [
  "accepted",
  "targeted",
  "segment",
  "filter",
  "excluded",
  "channel",
  "test_device",
  "subscription",
  "suppression",
  "category",
  "session",
  "fallback",
  "local_time",
  "quiet_hours",
  "frequency_cap",
  "variant",
  "one_per_user",
  "superseded",
  "activity",
  "render",
  "send",
  "receipt",
  "open",
  "click",
] as const;
export type WhyGateName = (typeof whyGates)[number];

/** `stop`: it ended here. `wait`: it is not decided yet. */
export const whyVerdicts = ["pass", "stop", "wait", "unknown"] as const;
export type WhyVerdict = (typeof whyVerdicts)[number];

/** Source: docs/reference/why.md#evidence. */
export const whyEvidence = ["exact", "replayed", "changed_since"] as const;
export type WhyEvidence = (typeof whyEvidence)[number];

const Id = Text({ minLength: 1, maxLength: 64, pattern: patterns.noNull });

/** Query of `GET …/notifications/{messageId}/why`: one of them. */
export const WhyQuery = Members({
  external_id: Optional(Text({ minLength: 1, maxLength: 255, pattern: patterns.noNull })),
  subscription_id: Optional(Id),
  address: Optional(
    Text({ minLength: 1, maxLength: 512, pattern: patterns.noNull, description: "address or token of a subscription" }),
  ),
});
export type WhyQuery = Static<typeof WhyQuery>;

/** What one gate made of a recipient. */
export const WhyGate = Members({
  gate: Enum([...whyGates]),
  verdict: Enum([...whyVerdicts]),
  at: Nullable(Type.String({ format: "date-time", description: "when that was so; null when that is not known" })),
  facts: Members({}, { additionalProperties: true, description: "what it saw; of each gate other members" }),
  evidence: Enum([...whyEvidence]),
});
export type WhyGate = Static<typeof WhyGate>;

/** What became of a notification for one subscription, or for a person who has none. */
export const WhyRecipient = Members({
  subscription_id: Nullable(Text()),
  channel: Nullable(ChannelName),
  address_masked: Nullable(Text()),
  delivery_id: Nullable(Text({ description: "null where there is no delivery" })),
  decided_by: Nullable(Enum([...whyGates], { description: "the gate that stopped it, or that it waits at" })),
  sentence: Text(),
  gates: List(WhyGate, { description: "in order; those behind one that stopped it were not asked" }),
});
export type WhyRecipient = Static<typeof WhyRecipient>;

/** Why somebody got a notification, or did not. Source: docs/reference/why.md. */
export const Why = Members({
  message_id: Text(),
  user_id: Nullable(Text({ description: "null for somebody whom the app does not know" })),
  external_id: Nullable(Text()),
  sentence: Text({ description: "of the recipient that got furthest" }),
  recipients: List(WhyRecipient, { description: "one for each subscription that was asked about" }),
  as_of: DateTime,
});
export type Why = Static<typeof Why>;

const Count = Integer({ minimum: 0 });

/** How many recipients stopped at which gate. Source: docs/reference/why.md#summary. */
export const WhySummary = Members({
  message_id: Text(),
  recipients: Type.Integer({
    minimum: 0,
    description: "of the audience, as far as it was read",
  }),
  excluded: Nullable(
    Type.Integer({
      minimum: 0,
      description:
        "whom its excluded segments kept out, counted among the people there are now; null when they are too many to look at. The sum of the counts is this and `recipients`",
    }),
  ),
  gates: List(
    Members({ gate: Enum([...whyGates]), verdict: Enum([...whyVerdicts]), reason: Nullable(Text()), count: Count }),
    { description: "what was decided where, and how often" },
  ),
  is_planned: Type.Boolean({ description: "false while the audience is being read: more may come" }),
  as_of: DateTime,
});
export type WhySummary = Static<typeof WhySummary>;

named({ WhyGate, WhyRecipient, Why, WhySummary });
