import type { Clock } from "#core/domain/clock.ts";
import { endingOf, type MediaProblem } from "#core/domain/conversations/media.ts";
import { NotBegun, type Outcome, type Provider } from "#core/domain/messages/outcome.ts";
import { semaphore } from "#core/runtime/batching/bounded.ts";
import type { EmailFile } from "#core/schema/messages/reply-content.ts";
import type { FetchMedia } from "../../conversations/media/fetch.ts";
import type { Attached, EncodedMail } from "./mime-body.ts";

export type AttachingDeps = { fetchMedia: FetchMedia; clock: Clock; appId: string };

/** Of all files of a mail: many servers take no more than 20 MB, and base64 makes a third more of them. */
export const mostFileBytes = 10_485_760;
const timeoutMs = 30_000; // for all files of a mail
const soonMs = 10_000;
const atOnce = 2; // mails with files in this process, each 50 MiB until it is sent

/** Has files fetched and attached before a mail is handed over; each app has one such mail at a time, the process a few. */
export const attaching = () => {
  const places = semaphore(atOnce);
  return (provider: Provider<EncodedMail>, deps: AttachingDeps): Provider<EncodedMail> => {
    const own = semaphore(1);
    const send: typeof provider.send = async (mail, to, signal, isOver) => {
      const { files = [] } = mail;
      if (files.length === 0) return provider.send(mail, to, signal, isOver);
      const attach = async (): Promise<Outcome> => {
        if (isOver?.() === true) throw new NotBegun();
        const attached = await fetched(deps, files, signal);
        return "kind" in attached ? attached : provider.send({ ...mail, attached }, to, signal, isOver);
      };
      return own.run(() => places.run(attach, signal), signal).catch(asNotBegun(signal));
    };
    return { ...provider, send };
  };
};

/** What waited for its place when the program ended was not begun. */
const asNotBegun =
  (signal: AbortSignal) =>
  (error: unknown): never => {
    throw signal.aborted && error === signal.reason ? new NotBegun() : error;
  };

const fetched = async (
  { fetchMedia, clock, appId }: AttachingDeps,
  files: readonly EmailFile[],
  signal: AbortSignal,
): Promise<Attached[] | Outcome> => {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const access = { poolKey: appId, lookUp: () => null, headersFor: () => ({}) };
  const attached: Attached[] = [];
  let bytes = 0;
  for (const { url, filename } of files) {
    const file = await fetchMedia({ url, id: null, mimeType: null }, access, ending);
    if (signal.aborted) throw new NotBegun();
    if (file.kind === "later") return later(file.problem, new Date(clock.now().getTime() + soonMs));
    if (file.kind === "failed") return refused(file.problem);
    bytes += file.body.length;
    if (bytes > mostFileBytes) return refused("too_large");
    attached.push({ filename: filename ?? nameIn(url, file.mimeType), mimeType: file.mimeType, content: file.body });
  }
  return attached;
};

const reasonOf = (problem: MediaProblem): string => `a file cannot be attached: ${problem}`;

const later = (problem: MediaProblem, at: Date): Outcome => ({
  kind: "retry_at",
  at,
  code: "MEDIA_UNAVAILABLE",
  providerCode: null,
  reason: reasonOf(problem),
});

const refused = (problem: MediaProblem): Outcome => ({
  kind: "payload_error",
  code: problem === "too_large" ? "PAYLOAD_TOO_LARGE" : "MEDIA_UNAVAILABLE",
  providerCode: null,
  reason: reasonOf(problem),
});

/** The last part of an address, as its path says it. */
const nameIn = (url: string, mimeType: string): string => {
  const last = URL.parse(url)?.pathname.split("/").at(-1) ?? "";
  return last === "" || last.length > 255 ? `file.${endingOf(mimeType)}` : last;
};
