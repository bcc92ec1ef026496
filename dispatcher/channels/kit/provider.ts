import type { OpenAccount, ProviderOf } from "#core/channels/accounts.ts";
import type { Rendering } from "#core/channels/kit/rendering.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Origins, Outcome, Provider, Recipient } from "#core/domain/messages/outcome.ts";
import type { SendableChannel } from "#core/schema/vocabulary/channels.ts";
import type { GuardedClient } from "../../net/guarded/client.ts";
import type { OpenTransport } from "../../net/transport.ts";

/** Sends what was rendered to one recipient. See `Provider`. */
export type Send = (to: Recipient, signal: AbortSignal, isOver: () => boolean) => Promise<Outcome>;

/** A provider account that is open: what `Provider` sends, rendered by the channel's own renderer. */
export type Account = {
  name: string;
  origins?: Origins | undefined;
  prepare: (rendering: Rendering) => Send;
  close: () => Promise<void>;
};

/** Joins a provider and the renderer of its channel. */
export const rendered = <Push>(provider: Provider<Push>, render: (rendering: Rendering) => Push): Account => ({
  name: provider.name,
  origins: provider.origins,
  prepare: (rendering) => {
    const push = render(rendering);
    return (...given) => provider.send(push, ...given);
  },
  close: () => provider.close(),
});

/** What the providers of every channel are made with. */
export type Platform = {
  open: OpenTransport;
  /** Makes requests to addresses that a recipient or a tenant names. */
  client: GuardedClient;
  /** The addresses of providers that no account names. */
  urls: { apns: Record<"production" | "sandbox", string>; fcm: string };
  clock: Clock;
};

/** How accounts of one provider are opened. */
export type ProviderDefinition<C extends SendableChannel> = {
  /** How long one send may take once it has begun, unless the program's grace is shorter. */
  timeoutMs: number;
  /** Called once: what it makes before it returns is shared by all accounts. */
  open: (platform: Platform & { timeoutMs: number }) => (account: OpenAccount<C>) => Account;
};

/** The providers of a channel, by the name that an account has as its `provider`. */
export type SendingChannel<C extends SendableChannel> = Readonly<Record<ProviderOf<C>, ProviderDefinition<C>>>;
