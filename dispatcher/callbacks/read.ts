import type { ProviderCallbacks } from "#core/channels/callbacks.ts";
import { type Callback, type CallbackContent, mailPart, maxCallbackItems } from "#core/channels/kit/callbacks.ts";
import type { Inbound } from "#core/channels/kit/inbound.ts";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import type { CallbackBatch, CallbackOf } from "#core/queue/callbacks.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";

export type ReadDeps = {
  callbacks: Readonly<Record<string, ProviderCallbacks | undefined>>;
  count: (labels: { provider: string; kind: string }, by: number) => void;
  log: Log;
};

/** All that is in a callback, and whose it is. */
export type Content = CallbackContent & {
  of: CallbackOf;
  channel: Channel;
  callback: Callback;
  /** The mail of a person that is in it, until that is read. */
  mail: Buffer | null;
};

/** Reads callbacks; what cannot be read is logged and left out, since reading it again would not help. */
export const readCallbacks =
  (deps: ReadDeps) =>
  ({ callbacks }: CallbackBatch): Content[] =>
    callbacks.flatMap(({ callback, ...of }) => {
      const definition = Object.hasOwn(deps.callbacks, of.provider) ? deps.callbacks[of.provider] : undefined;
      try {
        if (definition === undefined) throw new Error("a provider that this release does not know");
        const { receipts, inbound, ...rest } = definition.read(callback);
        const read = { receipts: receipts.slice(0, maxCallbackItems), inbound: inbound.slice(0, maxCallbackItems) };
        counted(deps, of.provider, read);
        const mail = callback.part.startsWith(mailPart) ? (definition.mail?.(callback.body) ?? null) : null;
        return [{ ...rest, ...read, of, channel: definition.channel, callback, mail }];
      } catch (err) {
        deps.count({ provider: of.provider, kind: "unreadable" }, 1);
        deps.log.error({ err, ...of, part: callback.part }, "callback.unreadable");
        return [];
      }
    });

const counted = (
  { count }: ReadDeps,
  provider: string,
  { receipts, inbound }: { receipts: readonly Receipt[]; inbound: readonly Inbound[] },
): void => {
  for (const [kind, of] of Map.groupBy(receipts, (one) => one.kind)) count({ provider, kind }, of.length);
  if (inbound.length > 0) count({ provider, kind: "inbound" }, inbound.length);
};
