import { jsonOf, listOf, memberOf, textOf } from "#core/channels/kit/reading.ts";
import type { TwilioWhatsapp } from "#core/channels/whatsapp/twilio-render.ts";
import { unreached } from "#core/domain/messages/outcome.ts";
import { providerOrigin } from "../../net/transport.ts";
import { refusal } from "../kit/outcomes.ts";
import { basicOf, type Cutting } from "../kit/twilio/messages.ts";
import { twilioOutcome } from "../kit/twilio/outcomes.ts";
import type { Made, TemplatesDeps } from "../kit/twilio/templates.ts";

type Approved = Extract<TwilioWhatsapp, { kind: "approved" }>;

const pauseMs = 5_000; // at least; the pauses between retries of a recipient grow by themselves
const mostPages = 5;
const pageSize = 20; // templates have 1 to 2 KB each, and an answer is read up to 64 KiB

/**
 * The Content templates of an account that messages name: by `friendly_name` and language, as the SID is Twilio's alone. Each message
 * looks its template up once, for all of its recipients; of several of one name, the one that was changed last is meant.
 * Source: twilio.com/docs/content/content-api-resources, "Template Search - v2".
 */
export const approvedTemplatesOf = (deps: Omit<TemplatesDeps, "app" | "templates">) => {
  const { credentials, contentUrl, rest, clock, timeoutMs } = deps;
  const transport = rest.open({ origin: providerOrigin(contentUrl) });
  const headers = { authorization: basicOf(credentials) };
  const find = async ({ name, language }: Approved, ...[signal, isOver]: Cutting): Promise<Made> => {
    const query = new URLSearchParams({ ContentName: name, Language: language, PageSize: String(pageSize) });
    let path: string | null = `/v2/Content?${query.toString()}`;
    const found: { sid: string; updated: string }[] = [];
    for (let page = 0; path !== null && page < mostPages; page++) {
      const result = await transport.get({ path, headers, timeoutMs, signal, isOver });
      const now = clock.now();
      if (result.kind !== "answer") return unreached(result.reason, new Date(now.getTime() + pauseMs), "provider");
      const outcome = twilioOutcome({ ...result, retryAfter: result.headers["retry-after"] }, now);
      if (outcome.kind !== "sent") return outcome;
      const body = jsonOf(result.body);
      found.push(...listOf(body, "contents").flatMap((one) => matching(one, { name, language })));
      path = pathOf(textOf(body, "meta", "next_page_url"));
    }
    const [last] = found.sort((a, b) => (a.updated < b.updated ? 1 : -1));
    return last === undefined
      ? refusal("payload_error", "TEMPLATE_REJECTED", "Twilio knows no Content template of this name in this language")
      : { kind: "made", sid: last.sid };
  };
  const shared = new WeakMap<Approved, Promise<Made>>();
  return {
    /** The SID of a message's template, or why there is none. What fails is tried again by the next recipient. */
    sidOf: (message: Approved, ...cutting: Cutting): Promise<Made> => {
      const found = shared.get(message) ?? find(message, ...cutting);
      shared.set(message, found);
      const forget = (): void => void shared.delete(message);
      found.then((one) => (one.kind === "made" ? undefined : forget()), forget);
      return found;
    },
    close: transport.close,
  };
};

/** Names are looked for as patterns: of what is found, those that are the name itself. */
const matching = (one: unknown, { name, language }: Pick<Approved, "name" | "language">) => {
  const sid = textOf(one, "sid");
  const isSame = memberOf(one, "friendly_name") === name && memberOf(one, "language") === language;
  return sid !== null && isSame ? [{ sid, updated: textOf(one, "date_updated") ?? "" }] : [];
};

/** Of the next page, which is asked for at the same address as the first. */
const pathOf = (address: string | null): string | null => {
  const url = address === null ? null : URL.parse(address);
  return url === null ? null : `${url.pathname}${url.search}`;
};
