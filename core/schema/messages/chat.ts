import { Type } from "typebox";
import { Closed, LanguageMap, MapOf, OrEmpty, Url } from "../json/common.ts";
import { worded } from "../json/patterns.ts";

const { Array: List, Enum, Integer, Number: Num, Optional, String: Text, Union, Literal } = Type;

/** Header of a WhatsApp template, distinguished by `type`. Source: docs/reference/whatsapp.md#content. */
const TemplateHeader = Union([
  Closed({ type: Literal("text"), text: Text({ minLength: 1, maxLength: 60 }) }),
  Closed({ type: Literal("image"), url: Url }),
  Closed({ type: Literal("video"), url: Url }),
  Closed({ type: Literal("document"), url: Url, filename: Text({ minLength: 1, maxLength: 240 }) }),
  Closed({
    type: Literal("location"),
    latitude: Num({ minimum: -90, maximum: 90 }),
    longitude: Num({ minimum: -180, maximum: 180 }),
    name: Text({ minLength: 1, maxLength: 200 }),
    address: Optional(Text({ maxLength: 300 })),
  }),
]);

const TemplateButton = Closed({
  index: Integer({ minimum: 0, maximum: 9 }),
  sub_type: Enum(["url", "quick_reply", "copy_code"]),
  value: Text({ minLength: 1, maxLength: 256 }),
});

const ListRow = Closed({
  id: Text({ minLength: 1, maxLength: 200 }),
  title: Text({ minLength: 1, maxLength: 24 }),
  description: Optional(Text({ minLength: 1, maxLength: 72 })),
});

/** Members of the WhatsApp group. */
export const WhatsappContent = {
  whatsapp_template: Closed({
    name: Text({ minLength: 1, maxLength: 512 }),
    language: Text({ minLength: 1, maxLength: 16 }),
    header: Optional(TemplateHeader),
    body_params: Optional(List(Text({ maxLength: 1024 }), { maxItems: 20 })),
    button_params: Optional(List(TemplateButton, { maxItems: 10 })),
  }),
  whatsapp_media: Closed({
    type: Enum(["image", "video", "document", "audio"]),
    url: Url,
    filename: Optional(Text({ minLength: 1, maxLength: 240 })),
  }),
  whatsapp_interactive: Closed({
    type: Enum(["button", "list"]),
    header: Optional(Text({ minLength: 1, maxLength: 60 })),
    footer: Optional(Text({ minLength: 1, maxLength: 60 })),
    buttons: Optional(
      List(Closed({ id: Text({ minLength: 1, maxLength: 256 }), title: Text({ minLength: 1, maxLength: 20 }) }), {
        maxItems: 3,
      }),
    ),
    list: Optional(
      Closed({
        button: Text({ minLength: 1, maxLength: 20 }),
        sections: List(
          Closed({
            title: Optional(Text({ minLength: 1, maxLength: 24 })),
            rows: List(ListRow, { minItems: 1, maxItems: 10 }),
          }),
          { minItems: 1, maxItems: 10 },
        ),
      }),
    ),
  }),
};

const suggestion = {
  text: Text({ minLength: 1, maxLength: 25 }),
  postback_data: Text({ minLength: 1, maxLength: 2048 }),
};

/** What an RCS recipient can tap, distinguished by `type`. Source: docs/reference/messages.md#rcs-suggestions. */
const RcsSuggestion = Union([
  Closed({ type: Literal("reply"), ...suggestion }),
  Closed({
    type: Literal("open_url"),
    ...suggestion,
    url: Url,
    view: Optional(Enum(["browser", "webview_full", "webview_half", "webview_tall"])),
  }),
  Closed({
    type: Literal("dial"),
    ...suggestion,
    phone_number: Text({
      pattern: worded("^\\+[1-9][0-9]{6,14}$", "must be a phone number such as +4915112345678: + and 7 to 15 digits"),
    }),
  }),
  Closed({
    type: Literal("view_location"),
    ...suggestion,
    latitude: Optional(Num({ minimum: -90, maximum: 90 })),
    longitude: Optional(Num({ minimum: -180, maximum: 180 })),
    label: Optional(Text({ maxLength: 100 })),
    query: Optional(Text({ maxLength: 200 })),
  }),
  Closed({ type: Literal("request_location"), ...suggestion }),
  Closed({
    type: Literal("create_calendar_event"),
    ...suggestion,
    title: Text({ minLength: 1, maxLength: 100 }),
    description: Optional(Text({ maxLength: 500 })),
    start: Text({ format: "date-time" }),
    end: Text({ format: "date-time" }),
  }),
]);

/** Members of the RCS group. */
export const RcsContent = {
  rcs_card: Closed({
    title: Optional(LanguageMap),
    description: Optional(LanguageMap),
    media_url: Optional(OrEmpty(Url)),
    media_height: Optional(Enum(["SHORT", "MEDIUM", "TALL"])),
    orientation: Optional(Enum(["VERTICAL", "HORIZONTAL"])),
  }),
  rcs_suggestions: List(RcsSuggestion, { maxItems: 11 }),
  rcs_content_sid: Text({ minLength: 1, maxLength: 64 }),
  rcs_content_variables: MapOf({ minLength: 1, maxLength: 64 }, Text({ maxLength: 1024 }), { maxProperties: 50 }),
  rcs_fallback_text: LanguageMap,
};
