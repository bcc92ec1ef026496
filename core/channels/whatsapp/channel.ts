import { Type } from "typebox";
import type { FieldError } from "../../errors.ts";
import { Closed, Nullable } from "../../schema/json/common.ts";
import { worded } from "../../schema/json/patterns.ts";
import { defineAccount, secretWith } from "../kit/account.ts";
import { defineChannel } from "../kit/channel.ts";
import { checkPhone, maskPhone, phonePattern } from "../kit/phone.ts";
import { memberOf } from "../kit/reading.ts";
import { BadSecret } from "../kit/secret-text.ts";
import { twilioMembers, twilioSecret } from "../kit/twilio/account.ts";
import { emptyText, hasForm, whatsappProblems } from "./problems.ts";
import { twilioProblems } from "./twilio-render.ts";

const { Enum, Integer, String: Text } = Type;

/** What stands in a header or an address: visible characters only. */
const token = (text: string): string => {
  if (!/^[\x21-\x7e]{1,1000}$/.test(text)) throw new BadSecret("is not 1 to 1,000 visible characters");
  return text;
};

const twilio = Closed(
  {
    ...twilioMembers,
    sender: Text({
      pattern: phonePattern,
      maxLength: 16,
      description: "the number that is a WhatsApp sender at Twilio",
    }),
  },
  { description: "WhatsApp over Twilio's Programmable Messaging" },
);

/** Of the Graph API, for an account that names none. */
export const usualApiVersion = "v25.0";

const goesWith = { meta: ["phone_number_id", "api_version"], twilio: ["twilio"] } as const;

type Said = Readonly<Record<string, unknown>>;

/** What an account of one provider lacks, or has of the other. */
const providerProblems = (said: Said): FieldError[] => {
  const isOf = said["provider"] === "twilio" ? "twilio" : "meta";
  const [needed, foreign] = isOf === "meta" ? ["phone_number_id", goesWith.twilio] : ["twilio", goesWith.meta];
  return [
    ...((said[needed] ?? null) === null ? [{ field: needed, message: `is required by the provider ${isOf}` }] : []),
    ...foreign.flatMap((field) =>
      (said[field] ?? null) === null ? [] : [{ field, message: `is not for the provider ${isOf}` }],
    ),
  ];
};

const account = defineAccount(
  {
    provider: Enum(["meta", "twilio"], { default: "meta", description: "who carries the messages" }),
    phone_number_id: Nullable(
      Text({
        pattern: worded("^[0-9]{5,20}$", "must be 5 to 20 digits"),
        maxLength: 20,
        description: "at Meta: id of the business phone number, as its dashboard shows it; not the number itself",
      }),
    ),
    api_version: Nullable(
      Text({
        pattern: worded("^v[0-9]{2}\\.[0-9]$", "must be a version such as v25.0"),
        maxLength: 8,
        description: `at Meta: version of the Graph API, else ${usualApiVersion}; Meta keeps one for about two years`,
      }),
    ),
    messages_per_second: Integer({
      minimum: 1,
      maximum: 1_000,
      default: 80,
      description: "what is taken from this number: 80, 20 beside the WhatsApp Business app, 1,000 after an upgrade",
    }),
    twilio: Nullable(twilio),
    access_token: secretWith("phone_number_id", "access_token", token),
    app_secret: secretWith("phone_number_id", "app_secret", token),
    verify_token: secretWith("phone_number_id", "verify_token", token),
  },
  {
    description: "WhatsApp, by Meta's Cloud API or over Twilio",
    secretHolds:
      "with Meta `access_token`: of a system user, with whatsapp_business_messaging; `app_secret`: of the Meta app, which " +
      "signs its callbacks; `verify_token`: any text, the same as in the app's webhook settings; " +
      `with Twilio ${twilioSecret}`,
    rules: [
      {
        rule: "has(self.phoneNumberId) == (self.provider == 'meta')",
        message: "phoneNumberId goes with the provider meta: both or neither",
      },
      { rule: "!has(self.apiVersion) || self.provider == 'meta'", message: "apiVersion is for the provider meta" },
      {
        rule: "has(self.twilio) == (self.provider == 'twilio')",
        message: "twilio goes with the provider twilio: both or neither",
      },
    ],
    problems: providerProblems,
  },
);

/** Messages on WhatsApp. */
export const whatsapp = defineChannel({
  name: "whatsapp",
  resourceMember: "whatsapp",
  providers: ["meta", "twilio"],
  account,
  address: { schema: { pattern: phonePattern }, check: checkPhone, mask: maskPhone },
  content: {
    isIn: (content) => hasForm(content) || content.contents !== undefined,
    isMeant: hasForm,
    empty: emptyText,
  },
  mayReachUnsubscribed: false,
  limit: null,
  problems: ({ content, account: of }) => [
    ...whatsappProblems({ content }),
    ...(isOverTwilio(of) ? twilioProblems(content) : []),
  ],
});

/** Whether an account, as it is stored, is Twilio's. */
const isOverTwilio = (of: object | undefined): boolean => memberOf(of, "provider") === "twilio";
