import { longestRow } from "#core/domain/imports/csv.ts";
import { type ImportErrorCode, importErrorCodes, importLimits } from "#core/schema/imports/import.ts";
import { type DeliveryErrorCode, deliveryErrorCodes } from "#core/schema/vocabulary/delivery-error-codes.ts";
import {
  type IdentityFault,
  identityFaults,
  type KeyFault,
  keyFaults,
} from "#core/schema/vocabulary/refusal-reasons.ts";
import { type WebhookErrorClass, webhookErrorClasses } from "#core/schema/vocabulary/webhook-errors.ts";
import { runErrorCodes } from "#core/schema/warehouse/export.ts";
import { rememberedDays } from "#core/storage/api-keys/revoked-tokens.ts";
import { code, codes, figure, table } from "./markdown.ts";

/** What codes of deliveries, requests of webhooks, imports and runs of warehouse exports say, and why keys and identity tokens are refused. */
export const errorTables = (): Record<string, Record<string, string>> => ({
  "reference/messages.md": { "error codes of deliveries": deliveryTable() },
  "webhooks.md": { "error classes": classTable() },
  "reference/imports.md": { "error codes of imports": importTable() },
  "reference/warehouse.md": { "error codes of runs": runTable() },
  "reference/requests.md": { "reasons of a refused key": reasonTable(keyFaults, ofKeys) },
  "reference/devices.md": { "reasons of a refused identity token": reasonTable(identityFaults, ofTokens) },
});

const deliveryTable = (): string =>
  table(
    ["Code", "Status", "Meaning"],
    deliveryErrorCodes.flatMap((name) => {
      const known = ofDeliveries[name];
      return known === null ? [] : [[code(name), codes(known.statuses), known.meaning]];
    }),
  );

/** The statuses of deliveries that have it, and what it means; null where none has it. */
const ofDeliveries: Record<DeliveryErrorCode, { statuses: readonly string[]; meaning: string } | null> = {
  TOKEN_UNREGISTERED: {
    statuses: ["failed"],
    meaning: "the provider says that the device or browser is no longer registered",
  },
  TOKEN_INVALID: { statuses: ["failed"], meaning: "the token or endpoint is none, or of another environment or app" },
  HARD_BOUNCE: { statuses: ["failed"], meaning: "there is no such mailbox" },
  RECIPIENT_INVALID: { statuses: ["failed"], meaning: "not a valid mail address, or no number" },
  RECIPIENT_UNREACHABLE: {
    statuses: ["failed", "errored"],
    meaning:
      "nobody can be reached at this number on this channel (`failed`); the phone or its carrier does not take this message (`errored`)",
  },
  RECIPIENT_OPTED_OUT: {
    statuses: ["failed", "errored"],
    meaning:
      "the recipient wants nothing more, as their provider or carrier says (`failed`); or no messages of this kind (`errored`)",
  },
  LANDLINE: { statuses: ["failed"], meaning: "the number takes no texts" },
  SENDER_MISMATCH: { statuses: ["errored"], meaning: "the token belongs to another project or key than the account's" },
  PROVIDER_AUTH: {
    statuses: ["errored"],
    meaning: "the provider refuses the account's credentials, or the app has no account any more",
  },
  PROVIDER_REJECTED: {
    statuses: ["errored"],
    meaning: "the provider refuses the request or the sender for another reason",
  },
  PAYLOAD_TOO_LARGE: { statuses: ["errored"], meaning: "too large for the provider" },
  TEMPLATE_REJECTED: {
    statuses: ["errored"],
    meaning: "the provider has no such template, or it does not take these parameters",
  },
  MEDIA_UNAVAILABLE: {
    statuses: ["errored"],
    meaning: "the provider could not fetch the media, or they are of a type or size that it does not take",
  },
  SESSION_CLOSED: { statuses: ["errored"], meaning: "a [session](whatsapp.md#sessions) was closed all the same" },
  CONTENT_BLOCKED: { statuses: ["errored"], meaning: "the mail server or carrier refuses the content" },
  SPAM_REJECTED: { statuses: ["errored"], meaning: "refused by policy or as spam" },
  MAILBOX_FULL: { statuses: ["errored"], meaning: "the mailbox is full, for good as its server says" },
  TEMPLATE_RENDER_FAILED: {
    statuses: ["errored"],
    meaning: "what it says could not be [rendered](templates.md) for this recipient; `error_message` says where",
  },
  SUPERSEDED: {
    statuses: ["suppressed"],
    meaning: "a newer push of the same [collapse id](channels.md#collapse-ids) took its place",
  },
  EXPIRED: {
    statuses: ["expired"],
    meaning: "the ttl ended. `error_message` and `provider_code` are those of the last failure",
  },
  PROVIDER_RATE_LIMITED: null,
  PROVIDER_UNAVAILABLE: null,
  SOFT_BOUNCE: null,
  TIMEOUT: null,
  INTERNAL: null,
};

const classTable = (): string =>
  table(
    ["Class", "What happened", "What to do"],
    webhookErrorClasses.map((name) => [code(name), ...ofRequests[name]]),
  );

const ofRequests: Record<WebhookErrorClass, readonly [happened: string, helps: string]> = {
  address_refused: [
    "the address is private, local, or at a port that is not allowed",
    "give a public https address, or ask the operator for `HERALD_ALLOWED_RANGES`",
  ],
  dns: ["the name could not be resolved", "check the DNS zone"],
  connect: ["nothing listens there, or there is no route", "is the receiver up?"],
  connect_timeout: ["no connection within 3 s", "a firewall that drops"],
  tls: ["certificate or handshake", "expired, wrong name, or an incomplete chain"],
  reset: ["closed before a whole answer", "a proxy's or the program's crash"],
  timeout: ["no whole answer in time", "answer first, work afterwards"],
  bad_reply: ["not HTTP, or a body that breaks off", ""],
  redirect: ["3xx", "give the final address"],
  client_error: ["4xx", "often a signature that is checked with another secret"],
  gone: ["410", "the endpoint has been disabled"],
  throttled: ["429", "set `rate_per_second`"],
  server_error: ["5xx", ""],
  template: ["the body template failed for this event", "try it in `preview`"],
  configuration: [
    "the url or a secret cannot be used",
    "operator: does the key ring still have the key that sealed it?",
  ],
};

const runTable = (): string =>
  table(
    ["Code", "What the store says"],
    runErrorCodes.map((name) => [code(name), ofRuns[name]]),
  );

const ofRuns: Record<(typeof runErrorCodes)[number], string> = {
  AUTH: "it does not know the credentials",
  PERMISSION: "they may not do this, or the address is not allowed",
  NOT_FOUND: "there is no such bucket or container",
  QUOTA: "it is full, or asked too often",
  NETWORK: "nothing: it cannot be reached, or is too slow",
  INTERNAL:
    "something else, or it has not what it took. Or a row cannot be written in this format, which concerns its dataset alone",
};

const importTable = (): string =>
  table(
    ["Code", "When"],
    importErrorCodes.map((name) => [code(name), ofImports[name]]),
  );

const { inflatedBytes, inflatedTimes, rows } = importLimits;

const ofImports: Record<ImportErrorCode, string> = {
  HS_VALIDATION_ERROR: `the file cannot be read on: not UTF-8, a damaged gzip, one that inflates to more than ${figure(inflatedBytes)} bytes or to more than ${inflatedTimes} times its size, a row of more than ${figure(longestRow)} characters`,
  HS_IMPORT_TOO_LARGE: `it has more than ${figure(rows)} rows: split it`,
  HS_QUOTA_EXCEEDED: "the plan has no room for the [first row's](#quota) subscription",
  HS_CANCELLED: "it was [cancelled](#cancelling)",
  HS_NOT_FOUND: "its file is gone",
  HS_INTERNAL_ERROR: "it failed ten times in a row, over hours",
};

const reasonTable = <Reason extends string>(reasons: readonly Reason[], meanings: Record<Reason, string>): string =>
  table(
    ["`reason`", "Means"],
    reasons.map((reason) => [code(reason), meanings[reason]]),
  );

const ofKeys: Record<KeyFault, string> = {
  missing: "there is no `Authorization` and no `X-API-Key` header",
  invalid: "the header has another form, two headers differ, or nobody knows the key",
  revoked: `the key worked once: it was revoked, deleted, or replaced by a rotation. Known for ${rememberedDays} days after that`,
  expired: "the key's `expiresAt` is over",
};

const ofTokens: Record<IdentityFault, string> = {
  missing: "one is needed",
  malformed: "it is no signed JWT, lacks a claim, or ends more than 7 days ahead",
  algorithm: "it is signed otherwise than its key signs; never by a shared secret",
  unknown_key: "the app has no key of this `kid`",
  signature: "another key has signed it",
  issuer: "it is for another app",
  expired: "it has ended",
  not_yet_valid: "it has not begun",
  subscription_not_granted: "its `subscriptions` lack the address",
  identity_mismatch: "it is of another person than the device, or the login, is; or it names another id as the alias",
};
