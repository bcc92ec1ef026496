import { Type } from "typebox";
import { worded } from "../../schema/json/patterns.ts";
import { defineAccount, secret } from "../kit/account.ts";
import { defineChannel } from "../kit/channel.ts";
import { checkPhone, maskPhone, phonePattern } from "../kit/phone.ts";
import { BadSecret } from "../kit/secret-text.ts";
import { emptyText, hasForm, whatsappProblems } from "./problems.ts";

const { Integer, String: Text } = Type;

/** What stands in a header or an address: visible characters only. */
const token = (text: string): string => {
  if (!/^[\x21-\x7e]{1,1000}$/.test(text)) throw new BadSecret("is not 1 to 1,000 visible characters");
  return text;
};

const account = defineAccount(
  {
    phone_number_id: Text({
      pattern: worded("^[0-9]{5,20}$", "must be 5 to 20 digits"),
      maxLength: 20,
      description: "id of the business phone number, as Meta's dashboard shows it; not the number itself",
    }),
    api_version: Text({
      pattern: worded("^v[0-9]{2}\\.[0-9]$", "must be a version such as v25.0"),
      maxLength: 8,
      default: "v25.0",
      description: "version of the Graph API; Meta keeps one for about two years",
    }),
    messages_per_second: Integer({
      minimum: 1,
      maximum: 1_000,
      default: 80,
      description: "what Meta takes from this number: 80, 20 beside the WhatsApp Business app, 1,000 after an upgrade",
    }),
    access_token: secret("access_token", token),
    app_secret: secret("app_secret", token),
    verify_token: secret("verify_token", token),
  },
  {
    description: "WhatsApp, by Meta's Cloud API",
    secretHolds:
      "`access_token`: of a system user, with whatsapp_business_messaging; `app_secret`: of the Meta app, which signs its callbacks; `verify_token`: any text, the same as in the app's webhook settings",
  },
);

/** Messages on WhatsApp. */
export const whatsapp = defineChannel({
  name: "whatsapp",
  resourceMember: "whatsapp",
  providers: ["meta"],
  account,
  address: { schema: { pattern: phonePattern }, check: checkPhone, mask: maskPhone },
  content: {
    isIn: (content) => hasForm(content) || content.contents !== undefined,
    isMeant: hasForm,
    empty: emptyText,
  },
  mayReachUnsubscribed: false,
  limit: null,
  problems: whatsappProblems,
});
