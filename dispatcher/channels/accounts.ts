import { renderFcm } from "#core/channels/android-push/render.ts";
import { renderEmail } from "#core/channels/email/render.ts";
import { renderApns } from "#core/channels/ios-push/render.ts";
import { renderWebPush } from "#core/channels/web-push/render.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Sealed } from "#core/runtime/process/key-ring.ts";
import type { SendableChannel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { GuardedClient } from "../net/guarded/client.ts";
import type { OpenTransport } from "../net/transport.ts";
import { fcm } from "./android-push/fcm.ts";
import { smtp } from "./email/smtp.ts";
import { apns } from "./ios-push/apns.ts";
import type { ApnsTokens } from "./ios-push/apns-tokens.ts";
import { type Account, account } from "./registry.ts";
import { webPush } from "./web-push/web-push.ts";

export type AccountsDeps = {
  /** Opens a sealed secret. `context` is the place it was sealed for. */
  unseal: (sealed: Sealed, context: string) => string;
  open: OpenTransport;
  tokens: ApnsTokens;
  client: GuardedClient;
  apnsUrls: Record<"production" | "sandbox", string>;
  fcmUrl: string;
  /** How long one send may take. */
  timeoutMs: (channel: SendableChannel) => number;
  clock: Clock;
};

/** Opens an app's account on a channel; null when it has none. Throws when a secret cannot be opened. */
export const openAccount =
  (deps: AccountsDeps) =>
  (app: AppRow, channel: SendableChannel): Account | null => {
    const secret = (sealed: Sealed, member: string): string => deps.unseal(sealed, `apps/${app._id}/${member}`);
    return openers[channel](app.channels, secret, deps);
  };

type Secret = (sealed: Sealed, member: string) => string;
type Opener = (of: AppRow["channels"], secret: Secret, deps: AccountsDeps) => Account | null;

const openers: Record<SendableChannel, Opener> = {
  ios_push: ({ ios_push: of }, secret, { open, tokens, apnsUrls, timeoutMs, clock }) => {
    if (of === undefined) return null;
    const privateKeyPem = secret(of.private_key, "ios_push.private_key");
    const signer = { teamId: of.team_id, keyId: of.key_id, bundleId: of.bundle_id, privateKeyPem };
    const baseUrl = apnsUrls[of.environment];
    return account(
      apns({ account: signer, baseUrl, open, tokens, clock, timeoutMs: timeoutMs("ios_push") }),
      renderApns,
    );
  },

  android_push: ({ android_push: of }, secret, { open, fcmUrl, timeoutMs, clock }) => {
    if (of === undefined) return null;
    const privateKeyPem = secret(of.private_key, "android_push.private_key");
    const service = { projectId: of.project_id, clientEmail: of.client_email, tokenUri: of.token_uri, privateKeyPem };
    return account(
      fcm({ account: service, baseUrl: fcmUrl, open, clock, timeoutMs: timeoutMs("android_push") }),
      renderFcm,
    );
  },

  web_push: ({ web_push: of }, secret, { client, timeoutMs, clock }) => {
    if (of === undefined) return null;
    const privateKey = secret(of.private_key, "web_push.private_key");
    const vapid = { subject: of.subject, publicKey: of.public_key, privateKey };
    return account(webPush({ account: vapid, client, clock, timeoutMs: timeoutMs("web_push") }), renderWebPush);
  },

  email: ({ email: of }, secret, { timeoutMs, clock }) => {
    if (of === undefined) return null;
    const { host, port, security, username, password, dkim } = of;
    const server = {
      host,
      port,
      security,
      from: { name: of.from_name, address: of.from_address },
      login: username === null || password === null ? null : { username, password: secret(password, "email.password") },
      dkim: dkim && {
        domain: dkim.domain,
        selector: dkim.selector,
        privateKey: secret(dkim.private_key, "email.dkim.private_key"),
      },
    };
    return account(smtp({ account: server, clock, timeoutMs: timeoutMs("email") }), renderEmail);
  },
};
