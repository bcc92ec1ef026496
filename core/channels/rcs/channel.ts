import { Type } from "typebox";
import { worded } from "../../schema/json/patterns.ts";
import { defineAccount } from "../kit/account.ts";
import { defineChannel } from "../kit/channel.ts";
import { checkPhone, maskPhone, phonePattern } from "../kit/phone.ts";
import { noText } from "../kit/text.ts";
import { sid, twilioMembers, twilioSecret } from "../kit/twilio/account.ts";
import { rcsProblems } from "./problems.ts";

const account = defineAccount(
  {
    ...twilioMembers,
    sender: Type.String({
      pattern: worded("^rcs:[A-Za-z0-9_.-]{1,100}$", "must be rcs: and 1 to 100 letters, digits and _.-"),
      maxLength: 104,
      description: "the RCS sender",
    }),
    messaging_service_sid: sid(
      "MG",
      "the Messaging Service that has the RCS sender, and senders of SMS for phones that do not take RCS",
    ),
  },
  { description: "RCS for Business over Twilio", secretHolds: twilioSecret },
);

/** Rich messages to phones. */
export const rcs = defineChannel({
  name: "rcs",
  resourceMember: "rcs",
  providers: ["twilio"],
  account,
  address: { schema: { pattern: phonePattern }, check: checkPhone, mask: maskPhone },
  content: {
    isIn: ({ contents, rcs_card: card, rcs_content_sid: content }) =>
      contents !== undefined || card !== undefined || content !== undefined,
    isMeant: (content) => Object.keys(content).some((member) => member.startsWith("rcs_")),
    empty: (content) =>
      content.rcs_card === undefined && content.rcs_content_sid === undefined ? noText(content) : [],
  },
  mayReachUnsubscribed: false,
  limit: null,
  problems: ({ content }) => rcsProblems(content),
});
