import { type FieldError, refuse } from "../../../errors.ts";
import type { Content } from "../../../schema/messages/notification.ts";
import type { TemplateKind } from "../../../schema/templates/template.ts";
import { type Fault, judgeLiquid } from "./faults.ts";

/** A template as far as its content is judged. */
type Judged = { kind: TemplateKind; content: Content };

/** Checks what a schema cannot say of a draft: which partials there are is asked when it is published. @throws ValidationError */
export const checkDraft = ({ kind, content }: Judged): void => {
  refuse(kind === "partial" ? notOfPartials(content) : []);
  refuse(judgeLiquid(content, kind === "partial" ? "none" : "any").faults.map(fieldErrorOf));
};

const notOfPartials = (content: Content): FieldError[] =>
  Object.keys(content)
    .filter((member) => member !== "contents")
    .map((member) => ({ field: `content.${member}`, message: "a partial has contents alone" }));

/** A fault in the words of an error. */
export const fieldErrorOf = ({ member, line, column, message }: Fault): FieldError => ({
  field: member === "" ? "content" : `content.${member}`,
  message: `line ${line}, column ${column}: ${message}`,
});
