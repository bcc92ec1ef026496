import { type Static, Type } from "typebox";
import { worded } from "#core/schema/json/patterns.ts";
import {
  exportHours,
  FilesConfig,
  filesNeeds,
  OutgoingConfig,
  poolSize,
  publicUrl,
  SharedConfig,
  StreamsConfig,
} from "./shared.ts";
import { TracingConfig, tracingNeeds } from "./tracing.ts";

const { Integer, Object: Group, Optional, String: Text } = Type;

/** The grace by itself, and the least that the chart admits: a mail server's 45 s, and 5 to store what came of it. */
export const dispatcherGraceSeconds = 50;

/** Settings of the dispatcher. */
export const DispatcherConfig = Group(
  {
    ...SharedConfig,
    ...StreamsConfig,
    ...FilesConfig,
    ...OutgoingConfig,
    ...TracingConfig,
    publicUrl,
    mongodbPoolSize: poolSize(30),
    graceSeconds: Integer({
      env: "HERALD_GRACE_SECONDS",
      default: dispatcherGraceSeconds,
      minimum: 1,
      maximum: 600,
      description:
        "seconds from SIGTERM to finish what is in hand; keep it below the pod's termination grace. No call of a provider " +
        "takes longer than this less 5: a mail server is given 45 seconds, so that with less than 50 a slow one's mails " +
        "end as uncertain sooner",
    }),
    unsavedLimit: Integer({
      env: "HERALD_DISPATCHER_UNSAVED_LIMIT",
      default: 100,
      minimum: 1,
      maximum: 2_000,
      description: "recipients handed to a provider and not yet stored; so many may be sent to twice after a kill",
    }),
    openChunks: Integer({
      env: "HERALD_DISPATCHER_OPEN_CHUNKS",
      default: 4,
      minimum: 1,
      maximum: 64,
      description:
        "chunks (of at most 500 recipients) that this process sends at the same time for one organisation; there are as " +
        "many places again for others",
    }),
    openJobs: Integer({
      env: "HERALD_DISPATCHER_OPEN_JOBS",
      default: 8,
      minimum: 1,
      maximum: 64,
      description:
        "long jobs (exports, imports) that this process runs at the same time, and as many removals and erasures beside them; half of each for one organisation at most",
    }),
    exportHours,
    apnsUrl: Text({
      env: "HERALD_APNS_URL",
      default: "https://api.push.apple.com",
      format: "https-url",
      description: "APNs for accounts of the production environment",
    }),
    apnsSandboxUrl: Text({
      env: "HERALD_APNS_SANDBOX_URL",
      default: "https://api.sandbox.push.apple.com",
      format: "https-url",
      description: "APNs for accounts of the sandbox environment",
    }),
    apnsChannelsUrl: Text({
      env: "HERALD_APNS_CHANNELS_URL",
      default: "https://api-manage-broadcast.push.apple.com:2196",
      format: "https-url",
      description: "where broadcast channels of live activities are made, for accounts of the production environment",
    }),
    apnsSandboxChannelsUrl: Text({
      env: "HERALD_APNS_SANDBOX_CHANNELS_URL",
      default: "https://api-manage-broadcast.sandbox.push.apple.com:2195",
      format: "https-url",
      description: "the same for accounts of the sandbox environment",
    }),
    fcmUrl: Text({
      env: "HERALD_FCM_URL",
      default: "https://fcm.googleapis.com",
      format: "https-url",
      description: "FCM HTTP v1",
    }),
    hmsUrl: Text({
      env: "HERALD_HMS_URL",
      default: "https://push-api.cloud.huawei.com",
      format: "https-url",
      description: "Huawei Push Kit",
    }),
    hmsOauthUrl: Text({
      env: "HERALD_HMS_OAUTH_URL",
      default: "https://oauth-login.cloud.huawei.com",
      format: "https-url",
      description: "where Huawei gives out access tokens for Push Kit",
    }),
    twilioUrl: Text({
      env: "HERALD_TWILIO_URL",
      default: "https://api.twilio.com",
      format: "https-url",
      description: "Twilio's REST API",
    }),
    twilioContentUrl: Text({
      env: "HERALD_TWILIO_CONTENT_URL",
      default: "https://content.twilio.com",
      format: "https-url",
      description: "Twilio's Content API, where templates of RCS and WhatsApp are made and found",
    }),
    vonageUrl: Text({
      env: "HERALD_VONAGE_URL",
      default: "https://api.nexmo.com",
      format: "https-url",
      description: "Vonage's Messages API",
    }),
    metaUrl: Text({
      env: "HERALD_META_URL",
      default: "https://graph.facebook.com",
      format: "https-url",
      description: "Meta's Graph API, for WhatsApp",
    }),
    mailUrl: Optional(
      Text({
        env: "HERALD_MAIL_URL",
        secret: true,
        pattern: worded("^smtps?://[^/?#]+", "must begin with smtps:// or smtp:// and a host"),
        maxLength: 2000,
        description:
          "mail server that tells owners of failing webhooks: smtps://user:password@mail.example.com:465, or smtp:// with " +
          "STARTTLS (required when there is a password); without it nobody is notified. It needs HERALD_MAIL_FROM",
      }),
    ),
    mailFrom: Optional(
      Text({
        env: "HERALD_MAIL_FROM",
        format: "email",
        maxLength: 320,
        description: "sender of mails to owners",
      }),
    ),
  },
  {
    additionalProperties: false,
    dependentRequired: { mailUrl: ["mailFrom"], mailFrom: ["mailUrl"], ...filesNeeds, ...tracingNeeds },
  },
);
export type DispatcherConfig = Static<typeof DispatcherConfig>;
