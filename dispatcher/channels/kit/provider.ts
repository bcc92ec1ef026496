import type { OpenAccount, ProviderOf } from "#core/channels/accounts.ts";
import type { Rendering } from "#core/channels/kit/rendering.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Origins, Outcome, Provider, Recipient, Takes } from "#core/domain/messages/outcome.ts";
import type { Signer } from "#core/domain/signer.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { ContentTemplates } from "#core/storage/content-templates/content-templates.ts";
import type { LinkRow } from "#core/storage/links/links.ts";
import type { GuardedClient } from "../../net/guarded/client.ts";
import type { RestTransports } from "../../net/guarded/rest.ts";
import type { OpenTransport } from "../../net/transport.ts";

/** Sends what was rendered to one recipient. See `Provider`. */
export type Send = (to: Recipient, signal: AbortSignal, isOver: () => boolean) => Promise<Outcome>;

/** A provider account that is open: what `Provider` sends, rendered by the channel's own renderer. */
export type Account = {
  name: string;
  origins?: Origins | undefined;
  takes?: Takes | undefined;
  prepare: (rendering: Rendering) => Send;
  check: Provider<unknown>["check"];
  /** Of a provider that sends one request to all who are subscribed to a channel. */
  broadcast?: BroadcastChannels;
  close: () => Promise<void>;
};

/** What became of a channel that was to be made. */
export type ChannelMade = { kind: "made"; id: string } | { kind: "refused"; outcome: Outcome };

/** The channels of an account. Both reject with `NotBegun` when the signal aborts before anything was handed over. */
export type BroadcastChannels = {
  create: (storesLatest: boolean, signal: AbortSignal) => Promise<ChannelMade>;
  /** Null when the provider has it no more; else why not. */
  remove: (channelId: string, signal: AbortSignal) => Promise<Outcome | null>;
  close: () => Promise<void>;
};

/** Joins a provider and the renderer of its channel. */
export const rendered = <Push>(provider: Provider<Push>, render: (rendering: Rendering) => Push): Account => ({
  name: provider.name,
  origins: provider.origins,
  takes: provider.takes,
  prepare: (rendering) => {
    const push = render(rendering);
    return (...given) => provider.send(push, ...given);
  },
  check: (signal) => provider.check(signal),
  close: () => provider.close(),
});

/** What the providers of every channel are made with. */
export type Platform = {
  /** HTTP/2, for providers of many pushes a second. */
  open: OpenTransport;
  /** HTTP/1.1, for providers of one message a request. */
  rest: RestTransports;
  /** Makes requests to addresses that a recipient or a tenant names. */
  client: GuardedClient;
  /** The addresses of providers that no account names. */
  urls: {
    apns: Record<"production" | "sandbox", string>;
    /** Where broadcast channels are made. */
    apnsChannels: Record<"production" | "sandbox", string>;
    fcm: string;
    hms: { push: string; oauth: string };
    twilio: string;
    twilioContent: string;
    vonage: string;
    meta: string;
  };
  /** The service's own address: where callbacks and links of what is sent lead (`callbackUrl`). */
  publicUrl: string;
  /** Stores a link in a message, unless it is there. */
  keepLink: (row: LinkRow) => Promise<unknown>;
  contentTemplates: ContentTemplates;
  /** Signs the links of ours in mails. */
  linkSigner: Signer;
  clock: Clock;
};

/** Whose an account is. */
export type AppOfAccount = { appId: string; tenantId: string };

/** How accounts of one provider are opened. */
export type ProviderDefinition<C extends Channel> = {
  /** How long one send may take once it has begun, unless the program's grace is shorter. */
  timeoutMs: number;
  /** Called once: what it makes before it returns is shared by all accounts. */
  open: (platform: Platform & { timeoutMs: number }) => (account: OpenAccount<C>, app: AppOfAccount) => Account;
};

/** The providers of a channel, by the name that an account has as its `provider`. */
export type SendingChannel<C extends Channel> = Readonly<Record<ProviderOf<C>, ProviderDefinition<C>>>;
