import { expect } from "chai";
import { ValidationError } from "#core/errors.ts";
import { parser } from "#core/schema/json/parser.ts";
import { CreateNotification } from "#core/schema/messages/notification.ts";

describe("the schema of a notification", () => {
  const parse = parser(CreateNotification);
  const errorsOf = (members: object): unknown => {
    try {
      parse({ target: { all: true }, contents: { en: "x" }, ...members });
      return null;
    } catch (error) {
      return error instanceof ValidationError ? error.details["errors"] : error;
    }
  };

  for (const { it: name, members } of [
    { it: "a mail", members: { email_subject: "s", email_body: "b", email_preheader: "p" } },
    { it: "a mail in MJML", members: { email_subject: "s", email_mjml: "m", disable_email_click_tracking: true } },
    { it: "a badge that is set", members: { ios_badge_type: "SetTo", ios_badge_count: 0 } },
    { it: "a badge that is set, as is usual", members: { ios_badge_count: 3 } },
    { it: "a badge that grows by one", members: { ios_badge_type: "Increase" } },
    { it: "a badge that stays", members: { ios_badge_type: "None" } },
    { it: "a badge that stays, whatever 0 says", members: { ios_badge_type: "None", ios_badge_count: 0 } },
    {
      it: "empty members of a mail without one",
      members: {
        email_mjml: "",
        email_preheader: "",
        email_from_name: "",
        email_from_address: "",
        email_reply_to_address: "",
        disable_email_click_tracking: false,
      },
    },
    { it: "a body beside MJML of no character", members: { email_subject: "s", email_body: "b", email_mjml: "" } },
    { it: "an address of no character", members: { url: "", buttons: [{ id: "a", text: "b", url: "", icon: "" }] } },
  ]) {
    it(`admits ${name}`, () => expect(errorsOf(members)).to.equal(null));
  }

  const lacks = (field: string, property: string) => [{ field, message: `is required with ${property}` }];
  for (const { it: name, members, errors } of [
    {
      it: "a subject without a body",
      members: { email_subject: "s" },
      errors: [{ field: "email_body", message: "is required" }],
    },
    {
      it: "a body beside MJML",
      members: { email_subject: "s", email_body: "b", email_mjml: "m" },
      errors: [{ field: "email_body", message: "has no effect with the other members" }],
    },
    {
      it: "a subject with MJML of no character",
      members: { email_subject: "s", email_mjml: "" },
      errors: [{ field: "email_body", message: "is required" }],
    },
    {
      it: "an address that is none",
      members: { url: "x" },
      errors: [{ field: "url", message: "must be an absolute address such as https://example.com/a" }],
    },
    { it: "MJML without a subject", members: { email_mjml: "m" }, errors: lacks("email_subject", "email_mjml") },
    { it: "a body without a subject", members: { email_body: "b" }, errors: lacks("email_subject", "email_body") },
    {
      it: "a preheader without a mail",
      members: { email_preheader: "p" },
      errors: lacks("email_subject", "email_preheader"),
    },
    {
      it: "a badge to be set to nothing",
      members: { ios_badge_type: "SetTo" },
      errors: [{ field: "ios_badge_count", message: "is required" }],
    },
    {
      it: "a number for a badge that is to stay",
      members: { ios_badge_type: "None", ios_badge_count: 1 },
      errors: [{ field: "ios_badge_count", message: "has no effect with the other members" }],
    },
  ]) {
    it(`refuses ${name}`, () => expect(errorsOf(members)).to.deep.equal(errors));
  }
});
