import type { FieldError } from "../../errors.ts";
import type { Content, Options } from "../../schema/messages/notification.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import type { AccountDefinition } from "./account.ts";
import type { Rendering } from "./rendering.ts";

/** The address in the one spelling under which its channel keeps it, or why it cannot be one. */
export type Checked = { ok: true; address: string } | { ok: false; problem: string };

export const good = (address: string): Checked => ({ ok: true, address });
export const bad = (problem: string): Checked => ({ ok: false, problem });

/** All that a channel is, but for how its providers are spoken to: that is `dispatcher/channels/<channel>/`. */
export type ChannelDefinition = {
  name: Channel;
  /** Its member in `spec.channels` of the App resource. */
  resourceMember: string;
  /** Providers that an account may be of; the first one's are those that name none. */
  providers: readonly [string, ...string[]];
  account: AccountDefinition;
  address: {
    /** What of {@link check} a schema of JSON can say: for readers of the OpenAPI document. */
    schema: { pattern: string; maxLength?: number };
    /** `given` has no white space at its ends. */
    check: (given: string) => Checked;
    /** The address as it may be shown. */
    mask: (address: string) => string;
  };
  content: ContentRule;
  /** Whether a message may ask for the unsubscribed too (`include_unsubscribed`). Source: docs/reference/messages.md#targets. */
  mayReachUnsubscribed: boolean;
  /** The largest body that the provider takes; null where it says so only when it gets one. */
  limit: { maxBytes: number; body: (rendering: Rendering) => string } | null;
  /** What a message does to the number that is kept of each app's icon; left out where there is none. */
  badge?: (content: Content) => BadgeChange | null;
  /** What else makes a message impossible on this channel, over the app's account as it is stored, where there is one. */
  problems?: (message: { content: Content; options: Options; account: object | undefined }) => FieldError[];
};

/** What of a message's content a channel carries. Source: docs/reference/messages.md#targets. */
export type ContentRule = {
  /** Whether a later message of the same `collapse_id` replaces this one at the recipient. */
  isReplaceable?: true;
  /** Whether a message says anything on the channel. */
  isIn: (content: Content) => boolean;
  /** Whether a message that names no channels means this one too; {@link isIn} when left out. */
  isMeant?: (content: Content) => boolean;
  /** Texts that were given and say nothing: what they make would count as sent, and nobody would see it. */
  empty: (content: Content) => FieldError[];
};

/** What a message does to the number at an app's icon. Source: docs/reference/channels.md#badges. */
export type BadgeChange = { set: number } | { add: number };

/** Keeps the precise types of a definition. */
export const defineChannel = <const Definition extends ChannelDefinition>(channel: Definition): Definition => channel;
