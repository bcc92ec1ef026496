import { type Static, Type } from "typebox";
import { ChannelName, Closed } from "../json/common.ts";
import { worded } from "../json/patterns.ts";
import { cel, commonStatus, externalId, immutable, objectName, resourceSpec } from "../kubernetes/common.ts";
import { defineResource } from "../kubernetes/definition.ts";
import { templateBounds, templateKinds, templateUses } from "./template.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Optional, String: Text } = Type;

/** The REST interface's content is an alternative of forms in many places: the operator reads it as that does. */
const Content = Type.Object(
  {},
  {
    "x-kubernetes-preserve-unknown-fields": true,
    description:
      "members of a notification's content with Liquid in their texts, as docs/reference/templates.md has them",
  },
);

const ConfigMapKey = Closed(
  {
    name: objectName("name of the ConfigMap, in the resource's own namespace"),
    key: Text({ minLength: 1, maxLength: 253, description: "the key in its data" }),
  },
  { description: "the ConfigMap that holds the text, and under which key" },
);

const ContentFrom = Closed(
  {
    member: Text({
      minLength: 1,
      maxLength: 64,
      pattern: worded(
        "^(email_body|email_mjml|contents\\.[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*)$",
        "must be email_body, email_mjml or contents.<language>",
      ),
      description: "the member of the content whose text it is: `email_body`, `email_mjml` or `contents.<language>`",
    }),
    configMapKeyRef: ConfigMapKey,
  },
  { description: "a text of the content that stands in a ConfigMap" },
);

export const TemplateSpec = resourceSpec(
  externalId("template"),
  {
    appRef: objectName("name of the App, in the same namespace", cel(immutable("appRef"))),
    name: Text({
      minLength: 1,
      maxLength: templateBounds.nameCharacters,
      description: "unique in the app; `render` names a partial by it",
    }),
    kind: Enum([...templateKinds], {
      default: "message",
      description: "message: what messages say; partial: a text that templates render",
      ...cel(immutable("kind")),
    }),
    description: Optional(Text({ maxLength: templateBounds.descriptionCharacters, description: "a note for people" })),
    channels: Optional(
      List(ChannelName, {
        minItems: 1,
        maxItems: 8,
        "x-kubernetes-list-type": "set",
        description: "over which its messages go; absent = over those that it has content for",
      }),
    ),
    content: Optional(Content),
    contentFrom: Optional(
      List(ContentFrom, {
        minItems: 1,
        maxItems: 20,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["member"],
        description: "texts that stand in ConfigMaps; they join content",
      }),
    ),
    publish: Flag({
      default: true,
      description:
        "whether what it says is published at once; no: it is a draft, which previews show and no message takes",
    }),
  },
  {
    rule: "has(self.content) || has(self.contentFrom)",
    message: "content or contentFrom is needed: what the template says",
    fieldPath: ".content",
  },
);
export type TemplateSpec = Static<typeof TemplateSpec>;

const Use = Closed(
  {
    type: Enum([...templateUses], { description: "what it is" }),
    id: Text({ maxLength: 128, description: "its id" }),
  },
  { description: "a template that renders the partial, or a message of the template that waits for its time" },
);

const TemplateStatus = Closed({
  ...commonStatus,
  appId: Optional(Text({ maxLength: 128, description: "id of the app" })),
  version: Optional(Integer({ minimum: 1, description: "of what it says: the draft's when there is one" })),
  publishedVersion: Optional(Integer({ minimum: 1, description: "which messages take; absent = none yet" })),
  usedBy: Optional(
    List(Use, {
      maxItems: templateBounds.usedBy,
      "x-kubernetes-list-type": "atomic",
      description: `what uses it, at most ${templateBounds.usedBy} of them`,
    }),
  ),
});
export type TemplateStatus = Static<typeof TemplateStatus>;

export const templateResource = defineResource({
  kind: "Template",
  plural: "templates",
  idKind: "template",
  shortNames: ["htpl"],
  scope: "Namespaced",
  description:
    "What messages of an app say, or a text that such templates render, with its texts in the resource or in ConfigMaps. " +
    "Whatever changes is published as a new version unless publish is false.",
  spec: TemplateSpec,
  status: TemplateStatus,
  columns: [
    { name: "Published", type: "integer", jsonPath: ".status.publishedVersion" },
    { name: "Version", type: "integer", jsonPath: ".status.version" },
    { name: "App", type: "string", jsonPath: ".spec.appRef" },
    { name: "Kind", type: "string", jsonPath: ".spec.kind", wide: true },
    { name: "Name", type: "string", jsonPath: ".spec.name", wide: true },
  ],
});
