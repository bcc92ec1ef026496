import { type Static, Type } from "typebox";
import { accountResults } from "../schema/apps/account.ts";
import { ResourceSettings } from "../schema/apps/settings-resource.ts";
import { Closed } from "../schema/json/common.ts";
import { worded } from "../schema/json/patterns.ts";
import {
  commonStatus,
  conditions,
  displayName,
  externalId,
  instant,
  resourceSpec,
} from "../schema/kubernetes/common.ts";
import { defineResource } from "../schema/kubernetes/definition.ts";
import { channels } from "../schema/vocabulary/channels.ts";
import type { AccountSpecs } from "./accounts.ts";
import { allDefinitions } from "./all.ts";
import { resourceMember } from "./kit/account.ts";

const { Array: List, Enum, Optional, String: Text } = Type;

/** The account of each channel, by the channel's own member. */
const Channels = Type.Unsafe<AccountSpecs>(
  Closed(
    Object.fromEntries(
      allDefinitions.map((channel) => [channel.resourceMember, Optional(resourceMember(channel.account))]),
    ),
    { default: {}, description: "provider account of each channel; a channel without one refuses messages" },
  ),
);

export const AppSpec = resourceSpec(externalId("app"), {
  displayName: displayName(", unique in the tenant"),
  settings: Optional(ResourceSettings),
  timeZone: Optional(
    Text({
      minLength: 1,
      maxLength: 64,
      pattern: worded(
        "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$",
        "must be a name of the IANA time zone database, such as Europe/Berlin",
      ),
      description: "deprecated: settings.timeZone, which counts where both are there",
    }),
  ),
  idempotencyMismatch: Optional(
    Enum(["replay", "reject"], {
      description: "deprecated: settings.idempotencyMismatch, which counts where both are there",
    }),
  ),
  importHuaweiAs: Optional(
    Enum(["android_push", "hms_push"], {
      description: "deprecated: settings.importHuaweiAs, which counts where both are there",
    }),
  ),
  channels: Channels,
});
export type AppSpec = Static<typeof AppSpec>;

const AccountStatus = Closed(
  {
    channel: Enum([...channels], { description: "channel of the account" }),
    provider: Text({ maxLength: 64, description: "who carries its messages" }),
    result: Optional(
      Enum([...accountResults], {
        description:
          "verified: the provider takes the account; refused: it does not; unreached: it could not be asked; " +
          "absent: not tested since the accounts changed",
      }),
    ),
    checkedAt: Optional(instant("when it was tested last")),
  },
  { description: "an account, and what its last connection test came to" },
);

const AppStatus = Closed({
  ...commonStatus,
  conditions: conditions({ AccountsVerified: "the providers take the accounts of the channels" }),
  tenantId: Optional(Text({ maxLength: 128, description: "id of the tenant that owns the namespace" })),
  channels: Optional(Text({ maxLength: 128, description: "the channels that are configured, comma-separated" })),
  accounts: Optional(
    List(AccountStatus, {
      maxItems: 8,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["channel"],
      description: "the accounts, one for each channel",
    }),
  ),
  webPushPublicKey: Optional(
    Text({ maxLength: 128, description: "applicationServerKey for the site's pushManager.subscribe, base64url" }),
  ),
});

export const appResource = defineResource({
  kind: "App",
  plural: "apps",
  idKind: "app",
  shortNames: ["happ"],
  scope: "Namespaced",
  description: "An app of the tenant that owns the namespace, with the provider accounts of its channels.",
  spec: AppSpec,
  status: AppStatus,
  columns: [
    { name: "Channels", type: "string", jsonPath: ".status.channels" },
    { name: "Verified", type: "string", jsonPath: '.status.conditions[?(@.type=="AccountsVerified")].status' },
  ],
});
