import type { TwilioCredentials } from "#core/channels/kit/twilio/account.ts";
import { whatsappPrefix } from "#core/channels/kit/twilio/inbound.ts";
import type { TwilioWhatsapp } from "#core/channels/whatsapp/twilio-render.ts";
import { NotBegun, type Outcome, type Provider } from "#core/domain/messages/outcome.ts";
import { paced } from "#core/runtime/batching/paced.ts";
import { refusal } from "../kit/outcomes.ts";
import { type Cutting, type TwilioDeps, twilioMessages, twilioTimeoutMs, validity } from "../kit/twilio/messages.ts";
import { contentTemplatesOf, type TemplatesDeps } from "../kit/twilio/templates.ts";
import { approvedTemplatesOf } from "./twilio-templates.ts";

export type TwilioWhatsappAccount = TwilioCredentials & {
  /** The number that is a WhatsApp sender. */
  sender: string;
  /** What is taken from it; what is more waits here rather than for a refusal. */
  messagesPerSecond: number;
};

export type TwilioWhatsappDeps = Omit<TwilioDeps, "credentials"> &
  Pick<TemplatesDeps, "app" | "contentUrl" | "templates"> & {
    account: TwilioWhatsappAccount;
    /** Where Twilio tells the statuses of a delivery. */
    statusUrl: (deliveryId: string) => string;
  };

type Members = [string, string][];

/** Sends on WhatsApp over Twilio. Source: twilio.com/docs/whatsapp/api. */
export const twilioWhatsapp = ({ account, statusUrl, ...deps }: TwilioWhatsappDeps): Provider<TwilioWhatsapp> => {
  const { timeoutMs = twilioTimeoutMs } = deps;
  const messages = twilioMessages({ ...deps, credentials: account });
  const made = contentTemplatesOf({ ...deps, credentials: account, timeoutMs });
  const approved = approvedTemplatesOf({ ...deps, credentials: account, timeoutMs });
  const turn = paced(() => account.messagesPerSecond);

  const create = async (message: TwilioWhatsapp, others: Members, ...cutting: Cutting): Promise<Outcome> => {
    if (message.kind === "refused")
      return refusal("payload_error", "PROVIDER_REJECTED", `over Twilio ${message.reason}`);
    if (message.kind === "said") return messages.create([...others, ...message.members], ...cutting);
    const template = await (message.kind === "approved"
      ? approved.sidOf(message, ...cutting)
      : made.sidOf(message, ...cutting));
    if (template.kind !== "made") return template;
    const of: Members = [...others, ["ContentSid", template.sid]];
    if (message.kind === "template") return made.madeAgain(message, await messages.create(of, ...cutting));
    const variables = JSON.stringify(message.variables);
    return messages.create(variables === "{}" ? of : [...of, ["ContentVariables", variables]], ...cutting);
  };
  return {
    name: "twilio",
    takes: { perSecond: account.messagesPerSecond },
    send: async (message, { address, deliveryId }, ...cutting) => {
      if (!(await turn(cutting[0]))) throw new NotBegun();
      const others: Members = [
        ["To", `${whatsappPrefix}${address}`],
        ["From", `${whatsappPrefix}${account.sender}`],
        ["StatusCallback", statusUrl(deliveryId)],
        ...("ttlSeconds" in message ? validity(message.ttlSeconds) : []),
      ];
      return create(message, others, ...cutting);
    },
    check: messages.check,
    close: async () => void (await Promise.all([messages.close(), made.close(), approved.close()])),
  };
};
