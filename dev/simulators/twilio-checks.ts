import type { TwilioAccount } from "./kit/credentials.ts";

export type Refused = { status: number; code: number; retry_after_seconds?: number };

type Circumstances = {
  account: TwilioAccount;
  optedOut: ReadonlySet<string>;
  templates: ReadonlySet<string>;
};

/** What stands before addresses that are not of SMS. */
export const prefix = /^(rcs|whatsapp):/;

/** Why Twilio refuses a new message; null when it takes it. Source: twilio.com/docs/api/errors, a page for each code. */
export const refusalOf = (form: URLSearchParams, authorization: string, at: Circumstances): Refused | null => {
  if (!basicsOf(at.account).includes(authorization)) return { status: 401, code: 20003 };
  const code = addressProblem(form, at) ?? contentProblem(form, at) ?? optionProblem(form);
  return code === null ? null : { status: 400, code };
};

/** How Twilio may be called: as the account itself, or with its API key. */
export const basicsOf = ({ accountSid, authToken, apiKey }: TwilioAccount): string[] => {
  const pairs = [`${accountSid}:${authToken}`, ...(apiKey === undefined ? [] : [`${apiKey.sid}:${apiKey.secret}`])];
  return pairs.map((pair) => `Basic ${Buffer.from(pair).toString("base64")}`);
};

const addressProblem = (form: URLSearchParams, { account, optedOut }: Circumstances): number | null => {
  const [to, from, service] = [form.get("To"), form.get("From"), form.get("MessagingServiceSid")];
  if (!to) return 21604;
  if (!/^((rcs|whatsapp):)?\+[1-9]\d{6,14}$/.test(to)) return 21211;
  if (!from && !service) return 21603;
  if (service && service !== account.messagingServiceSid) return 21701;
  if (from && ![...account.senders, account.rcsSender, account.whatsappSender].includes(from)) return 21606;
  if (prefix.exec(to)?.[0] !== prefix.exec(from ?? "")?.[0]) return 63003;
  return optedOut.has(to) ? 21610 : null;
};

const contentProblem = (form: URLSearchParams, { templates }: Circumstances): number | null => {
  const [body, media, content] = [form.get("Body"), form.getAll("MediaUrl"), form.get("ContentSid")];
  if (!body && media.length === 0 && !content) return 21619;
  if ((body?.length ?? 0) > 1600) return 21617;
  if (media.length > 10) return 21623;
  if (media.some((url) => !/^https?:\/\//.test(url))) return 21620;
  if (content && !templates.has(content)) return 21655;
  if (form.has("ContentVariables") && !content) return 21654;
  return null;
};

const optionProblem = (form: URLSearchParams): number | null => {
  const [callback, validity] = [form.get("StatusCallback"), form.get("ValidityPeriod")];
  if (callback !== null && !/^https?:\/\//.test(callback)) return 21609;
  const seconds = Number(validity ?? 1);
  return Number.isInteger(seconds) && seconds >= 1 && seconds <= 36_000 ? null : 21624;
};
