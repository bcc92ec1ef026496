import type { Content } from "../../schema/messages/notification.ts";

type Suggestion = NonNullable<Content["rcs_suggestions"]>[number];

/** A button of a card or chip of a text. Source: twilio.com/docs/content/twiliocard, "Actions". */
export type CardAction =
  | { type: "QUICK_REPLY"; title: string; id: string }
  | { type: "URL"; title: string; id: string; url: string; webview_size: "NONE" | "FULL" | "HALF" | "TALL" }
  | { type: "PHONE_NUMBER"; title: string; id: string; phone: string };

/**
 * The actions of Twilio that stand for suggestions. It has three: what it has no action for becomes a link to the public
 * map or calendar, and a question for the place becomes a reply.
 */
export const cardActions = (suggestions: readonly Suggestion[]): CardAction[] => suggestions.map(actionOf);

const actionOf = (suggestion: Suggestion): CardAction => {
  const common = { title: suggestion.text, id: suggestion.postback_data };
  switch (suggestion.type) {
    case "reply":
    case "request_location":
      return { type: "QUICK_REPLY", ...common };
    case "dial":
      return { type: "PHONE_NUMBER", ...common, phone: suggestion.phone_number };
    case "open_url":
      return { type: "URL", ...common, url: suggestion.url, webview_size: sizes[suggestion.view ?? "browser"] };
    case "view_location":
      return { type: "URL", ...common, url: mapUrl(suggestion), webview_size: "NONE" };
    case "create_calendar_event":
      return { type: "URL", ...common, url: calendarUrl(suggestion), webview_size: "NONE" };
  }
};

const sizes = { browser: "NONE", webview_full: "FULL", webview_half: "HALF", webview_tall: "TALL" } as const;

/** Source: developers.google.com/maps/documentation/urls/get-started, "Search". */
const mapUrl = ({ latitude, longitude, query, label }: Extract<Suggestion, { type: "view_location" }>): string => {
  const place = latitude === undefined || longitude === undefined ? (query ?? label ?? "") : `${latitude},${longitude}`;
  return `https://www.google.com/maps/search/?${new URLSearchParams({ api: "1", query: place }).toString()}`;
};

/** A form for a new event, filled in; instants as RFC 5545 3.3.5 writes them. */
const calendarUrl = (event: Extract<Suggestion, { type: "create_calendar_event" }>): string => {
  const { title: text, description: details = "", start, end } = event;
  const dates = [start, end].map((at) => new Date(at).toISOString().replaceAll(/[-:]|\.\d{3}/g, "")).join("/");
  const members = { action: "TEMPLATE", text, dates, ...(details && { details }) };
  return `https://calendar.google.com/calendar/render?${new URLSearchParams(members).toString()}`;
};
