import { callbackProviders, callbacks } from "../../channels/callbacks.ts";
import { derivedId } from "../../domain/ids.ts";

/** The id of a message of a person's: however often its provider tells it, it has one. */
export const inboundId = (appId: string, provider: string, providerId: string): string =>
  derivedId("conversationMessage", appId, provider, providerId);

/** The ids under which a mail of a person's is stored, whichever way it came. */
export const inboundMailIds = (appId: string, messageId: string): string[] =>
  mailProviders.map((provider) => inboundId(appId, provider, messageId));

const mailProviders = callbackProviders.filter((name) => callbacks[name]?.mail != null);
