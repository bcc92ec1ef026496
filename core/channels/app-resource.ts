import { type Static, Type } from "typebox";
import { Closed } from "../schema/json/common.ts";
import { cel, commonStatus, externalId, resourceSpec, secretRef } from "../schema/kubernetes/common.ts";
import { defineResource } from "../schema/kubernetes/definition.ts";

const { Enum, Integer, Optional, String: Text } = Type;

const mailAddress = (description: string) =>
  Text({ minLength: 3, maxLength: 320, pattern: "^[^@\\s<>]+@[^@\\s<>]+$", description });
const hostName = (description: string) =>
  Text({ minLength: 1, maxLength: 253, pattern: "^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$", description });

const Ios = Closed(
  {
    teamId: Text({ pattern: "^[A-Z0-9]{10}$", maxLength: 10, description: "Apple developer team, 10 characters" }),
    keyId: Text({ pattern: "^[A-Z0-9]{10}$", maxLength: 10, description: "id of the APNs key, 10 characters" }),
    bundleId: Text({
      minLength: 1,
      maxLength: 155,
      pattern: "^[A-Za-z0-9.-]+$",
      description: "bundle id of the iOS app; the topic of its pushes",
    }),
    environment: Enum(["production", "sandbox"], {
      default: "production",
      description: "which of Apple's two services the app's tokens belong to",
    }),
    secretRef: secretRef("`private_key`: the APNs key as Apple gives it (.p8, PEM, EC P-256)"),
  },
  { description: "APNs, by token authentication" },
);

const Android = Closed(
  {
    secretRef: secretRef(
      "`service_account.json`: the Google service account's file, from which project_id, client_email, private_key and token_uri are read",
    ),
  },
  { description: "Firebase Cloud Messaging, HTTP v1" },
);

const Web = Closed(
  {
    subject: Text({
      minLength: 8,
      maxLength: 320,
      pattern: "^(mailto:[^@\\s]+@[^@\\s]+|https://\\S+)$",
      description: "whom a push service may write to: mailto: or https: (RFC 8292)",
    }),
    secretRef: secretRef(
      "`private_key`: the VAPID key, 32 bytes in base64url; its public half appears in status.webPushPublicKey",
    ),
  },
  { description: "web push with VAPID" },
);

const Dkim = Closed(
  {
    domain: hostName("the signing domain (d=)"),
    selector: hostName("the selector (s=)"),
  },
  { description: "DKIM signature; the Secret's `dkim_private_key` is the key (PEM)" },
);

const Email = Closed(
  {
    host: hostName("SMTP server"),
    port: Integer({ minimum: 1, maximum: 65_535, default: 587, description: "SMTP port" }),
    security: Enum(["starttls", "tls", "none"], {
      default: "starttls",
      description: "starttls: refuses to go on without it; tls: from the first byte; none: only for a trusted network",
    }),
    fromName: Optional(
      Text({ minLength: 1, maxLength: 128, pattern: "^[^\\x00-\\x1f\\x7f]+$", description: "default sender's name" }),
    ),
    fromAddress: mailAddress("default sender's address"),
    username: Optional(
      Text({ minLength: 1, maxLength: 256, description: "SMTP user; needs `password` in the Secret" }),
    ),
    dkim: Optional(Dkim),
    secretRef: Optional(secretRef("`password` when username is set, `dkim_private_key` when dkim is set")),
  },
  {
    description: "e-mail over SMTP",
    ...cel({
      rule: "has(self.secretRef) == (has(self.username) || has(self.dkim))",
      message: "secretRef goes with username or dkim: both or neither",
    }),
  },
);

const Channels = Closed(
  { ios: Optional(Ios), android: Optional(Android), web: Optional(Web), email: Optional(Email) },
  { default: {}, description: "provider account of each channel; a channel without one refuses messages" },
);

export const AppSpec = resourceSpec(externalId("app"), {
  displayName: Optional(
    Text({
      minLength: 1,
      maxLength: 128,
      description: "name for people, unique in the tenant; absent = the resource's name",
    }),
  ),
  timeZone: Text({
    default: "UTC",
    minLength: 1,
    maxLength: 64,
    pattern: "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$",
    description: "IANA name of the app's time zone, e.g. Europe/Berlin",
  }),
  idempotencyMismatch: Enum(["replay", "reject"], {
    default: "replay",
    description: "a reused idempotency key with another body: replay answers the first result, reject answers 422",
  }),
  channels: Channels,
});
export type AppSpec = Static<typeof AppSpec>;

export const AppStatus = Closed({
  ...commonStatus,
  tenantId: Optional(Text({ maxLength: 128, description: "id of the tenant that owns the namespace" })),
  channels: Optional(Text({ maxLength: 128, description: "the channels that are configured, comma-separated" })),
  webPushPublicKey: Optional(
    Text({ maxLength: 128, description: "applicationServerKey for the site's pushManager.subscribe, base64url" }),
  ),
});
export type AppStatus = Static<typeof AppStatus>;

export const appResource = defineResource({
  kind: "App",
  plural: "apps",
  idKind: "app",
  shortNames: ["happ"],
  scope: "Namespaced",
  description: "An app of the tenant that owns the namespace, with the provider accounts of its channels.",
  spec: AppSpec,
  status: AppStatus,
  rules: [],
  columns: [{ name: "Channels", type: "string", jsonPath: ".status.channels" }],
});
