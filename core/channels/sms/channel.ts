import { type Static, Type } from "typebox";
import type { FieldError } from "../../errors.ts";
import { Closed, Nullable } from "../../schema/json/common.ts";
import { worded } from "../../schema/json/patterns.ts";
import { cel } from "../../schema/kubernetes/common.ts";
import type { Content } from "../../schema/messages/notification.ts";
import { defineAccount, secret } from "../kit/account.ts";
import { defineChannel } from "../kit/channel.ts";
import { checkPhone, maskPhone, phonePattern } from "../kit/phone.ts";
import { BadSecret, privateKeyOf } from "../kit/secret-text.ts";
import { noText, tooLong } from "../kit/text.ts";
import { sid, twilioMembers, twilioSecret } from "../kit/twilio/account.ts";
import { maxSmsCharacters } from "./render.ts";
import { isSender, senderPattern } from "./sender.ts";

const { Array: List, Enum, String: Text } = Type;

const senders = List(Text({ minLength: 1, maxLength: 16, pattern: senderPattern }), {
  maxItems: 20,
  description: "what messages come from: each recipient always gets theirs from the same one",
});

const twilio = Closed(
  {
    ...twilioMembers,
    messaging_service_sid: Nullable(sid("MG", "the Messaging Service that chooses the sender")),
    senders: Nullable(senders),
  },
  {
    description: "Twilio's Programmable Messaging",
    ...cel({
      rule: "has(self.messagingServiceSid) || (has(self.senders) && size(self.senders) > 0)",
      message: "messagingServiceSid or senders is required",
    }),
  },
);

/** Source: developer.vonage.com, "Authentication", JSON Web Tokens: RS256. */
const rsaKey = (pem: string): string => {
  if (privateKeyOf(pem).asymmetricKeyType !== "rsa") throw new BadSecret("is not an RSA key");
  return pem;
};

const vonage = Closed(
  {
    application_id: Text({
      pattern: worded("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", "must be a UUID in small letters"),
      maxLength: 36,
      description: "id of the application",
    }),
    senders: Type.Array(senders.items, { ...senders, minItems: 1 }),
    private_key: secret("private_key", rsaKey),
    signature_secret: secret("signature_secret"),
  },
  { description: "Vonage's Messages API" },
);

const goesWith = (provider: string) => ({
  rule: `has(self.${provider}) == (self.provider == '${provider}')`,
  message: `${provider} goes with the provider ${provider}: both or neither`,
});

type Said = Readonly<Record<string, unknown>>;

const goesTogether = (said: Said, provider: string): FieldError[] =>
  ((said[provider] ?? null) !== null) === (said["provider"] === provider)
    ? []
    : [{ field: provider, message: goesWith(provider).message }];

const noSender = ({ twilio: said }: Said): FieldError[] => {
  const { messaging_service_sid: service, senders: own } = (said ?? {}) as Partial<Static<typeof twilio>>; // sound: parsed
  if ((said ?? null) === null || (service ?? null) !== null || (own ?? []).length > 0) return [];
  return [{ field: "twilio.messaging_service_sid", message: "it or senders is required" }];
};

const account = defineAccount(
  {
    provider: Enum(["twilio", "vonage"], { default: "twilio", description: "who carries the messages" }),
    twilio: Nullable(twilio),
    vonage: Nullable(vonage),
  },
  {
    description: "SMS and MMS",
    secretHolds:
      `with Twilio ${twilioSecret}; with Vonage \`private_key\`: the application's (PEM), and \`signature_secret\`: ` +
      "the account's, by which callbacks are verified",
    rules: [goesWith("twilio"), goesWith("vonage")],
    problems: (said) => [...goesTogether(said, "twilio"), ...goesTogether(said, "vonage"), ...noSender(said)],
  },
);

/** Text messages to phones. */
export const sms = defineChannel({
  name: "sms",
  resourceMember: "sms",
  providers: ["twilio", "vonage"],
  account,
  address: { schema: { pattern: phonePattern }, check: checkPhone, mask: maskPhone },
  content: {
    isIn: ({ contents, sms_media_urls: media }) => contents !== undefined || media !== undefined,
    isMeant: ({ sms_from: from, sms_media_urls: media }) => from !== undefined || media !== undefined,
    empty: (content) => (content.sms_media_urls === undefined ? noText(content) : []),
  },
  mayReachUnsubscribed: false,
  limit: null,
  problems: ({ content }) => [
    ...tooLong("contents", content.contents, { most: maxSmsCharacters, by: "SMS" }),
    ...badSender(content),
  ],
});

const badSender = ({ sms_from: from }: Content): FieldError[] =>
  from === undefined || isSender(from)
    ? []
    : [{ field: "sms_from", message: "must be a phone number, a short code, or 1 to 11 letters, digits and spaces" }];
