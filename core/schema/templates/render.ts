import { type Static, Type } from "typebox";
import { ChannelName, Closed, MapOf, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { patterns } from "../json/patterns.ts";

const { Array: List, Integer, Object: Members, Optional, String: Text, Unknown } = Type;

/** Body of `POST /v1/apps/{appId}/templates/{templateId}/render`. Source: docs/reference/templates.md#preview. */
export const RenderTemplate = Closed({
  user: Optional(
    Closed(
      {
        label: Text({ pattern: patterns.aliasLabel, description: "`external_id`, `user_id` or an alias label" }),
        id: Text({ minLength: 1, maxLength: 255 }),
      },
      { description: "whom it is rendered for" },
    ),
  ),
  data: Optional(
    MapOf({ minLength: 1, maxLength: 64 }, Unknown(), {
      maxProperties: 10,
      description: "values that templates read: `custom_data`, and `user` and `subscription` of nobody",
    }),
  ),
  language: Optional(
    Text({ pattern: patterns.language, maxLength: 35, description: "left out: the person's, else as for others" }),
  ),
  channel: Optional(ChannelName),
  version: Optional(
    Integer({ minimum: 1, description: "left out: the draft, or what is published when there is none" }),
  ),
});
export type RenderTemplate = Static<typeof RenderTemplate>;

const RenderFault = Members({
  member: Text(),
  line: Integer({ minimum: 1 }),
  column: Integer({ minimum: 1 }),
  message: Text(),
});

/** What a template says on one channel. */
export const RenderedTemplate = Members({
  channel: ChannelName,
  content: Nullable(Members({}, { additionalProperties: true, description: "null when it says nothing to them" })),
  bytes: Nullable(Integer({ minimum: 0, description: "of what the provider is sent; null where that has no limit" })),
  limit_bytes: Nullable(Integer({ minimum: 1 })),
  missing_variables: List(Text(), { description: "values that it reads and there are not" }),
  aborted: Nullable(Text({ description: "the reason of its `abort`" })),
  errors: List(RenderFault),
});

/** Its reply. */
export const RenderTemplateResult = Members({ channels: List(RenderedTemplate) });
export type RenderTemplateResult = Static<typeof RenderTemplateResult>;

named({ RenderTemplate, RenderedTemplate, RenderTemplateResult });
