import type { TwilioCredentials } from "#core/channels/kit/twilio/account.ts";
import type { RcsBody, RcsMessage } from "#core/channels/rcs/render.ts";
import type { Outcome, Provider } from "#core/domain/messages/outcome.ts";
import { restTakes } from "../../net/guarded/rest.ts";
import { type Cutting, type TwilioDeps, twilioMessages, twilioTimeoutMs, validity } from "../kit/twilio/messages.ts";
import { contentTemplatesOf, type TemplatesDeps } from "../kit/twilio/templates.ts";

export type TwilioRcsAccount = TwilioCredentials & { sender: string; messaging_service_sid: string };

export type TwilioRcsDeps = Omit<TwilioDeps, "credentials"> &
  Pick<TemplatesDeps, "app" | "contentUrl" | "templates"> & {
    account: TwilioRcsAccount;
    /** Where Twilio tells the statuses of a delivery. */
    statusUrl: (deliveryId: string) => string;
  };

type Members = [string, string][];

/**
 * Sends RCS over Twilio. From the sender itself a message goes by RCS or not at all; the Messaging Service sends an SMS to a
 * phone that does not take RCS. Source: twilio.com/docs/rcs/send-an-rcs-message.
 */
export const twilioRcs = ({ account, statusUrl, ...deps }: TwilioRcsDeps): Provider<RcsMessage> => {
  const { timeoutMs = twilioTimeoutMs } = deps;
  const messages = twilioMessages({ ...deps, credentials: account });
  const templates = contentTemplatesOf({ ...deps, credentials: account, timeoutMs });
  const between = ({ fallsBack }: RcsMessage, address: string): Members =>
    fallsBack
      ? [
          ["To", address],
          ["MessagingServiceSid", account.messaging_service_sid],
        ]
      : [
          ["To", `rcs:${address}`],
          ["From", account.sender],
        ];
  const sendTemplate = async (body: Template, others: Members, ...cutting: Cutting): Promise<Outcome> => {
    const made = await templates.sidOf(body, ...cutting);
    if (made.kind !== "made") return made;
    return templates.madeAgain(body, await messages.create([...others, ["ContentSid", made.sid]], ...cutting));
  };
  return {
    name: "twilio",
    takes: restTakes,
    send: (message, { address, deliveryId }, ...cutting) => {
      const { body, ttlSeconds } = message;
      const others: Members = [
        ...between(message, address),
        ["StatusCallback", statusUrl(deliveryId)],
        ...validity(ttlSeconds),
      ];
      return body.kind === "template"
        ? sendTemplate(body, others, ...cutting)
        : messages.create([...others, ...saidBy(body)], ...cutting);
    },
    check: messages.check,
    close: async () => void (await Promise.all([messages.close(), templates.close()])),
  };
};

type Template = Extract<RcsBody, { kind: "template" }>;

const saidBy = (body: Exclude<RcsBody, Template>): Members => {
  if (body.kind === "text") return [["Body", body.text]];
  const variables = JSON.stringify(body.variables);
  return [
    ["ContentSid", body.sid],
    ...(variables === "{}" ? [] : [["ContentVariables", variables] as [string, string]]),
  ];
};
