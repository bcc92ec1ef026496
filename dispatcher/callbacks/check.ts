import type { ProviderCallbacks } from "#core/channels/callbacks.ts";
import type { Authorities } from "#core/channels/kit/authorities.ts";
import type { Callback, Certified } from "#core/channels/kit/callbacks.ts";
import type { Clock } from "#core/domain/clock.ts";
import { falseWhenAway } from "#core/errors.ts";
import type { CallbackBatch } from "#core/queue/callbacks.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { CertificateOf } from "./certificates.ts";

export type CheckDeps = {
  callbacks: Readonly<Record<string, ProviderCallbacks | undefined>>;
  certificate: CertificateOf;
  /** Who vouches for certificates. */
  trusted: () => Authorities;
  /** Hands a certificate to the apiservers: they check by themselves what is signed with it from then on. */
  share: (url: string, pem: string) => Promise<void>;
  count: (labels: { provider: string; kind: "refused" }, by: number) => void;
  log: Log;
  clock: Clock;
};

type Waiting = CallbackBatch["callbacks"][number];

/** What may be read, and what cannot be checked yet. */
export type Checked = { signed: Waiting[]; pending: Waiting[] };

/**
 * Checks the signatures that no apiserver could check, as it had no certificate. What its provider did not sign is counted
 * and left out.
 */
export const checkCallbacks =
  (deps: CheckDeps) =>
  async ({ callbacks }: CallbackBatch, signal: AbortSignal): Promise<Checked> => {
    const verdicts = await Promise.all(callbacks.map((one) => verdictOn(deps, one, signal)));
    const those = (verdict: Verdict): Waiting[] => callbacks.filter((_, n) => verdicts[n] === verdict);
    return { signed: those("signed"), pending: those("pending") };
  };

type Verdict = "signed" | "pending" | "refused";

const verdictOn = async (deps: CheckDeps, one: Waiting, signal: AbortSignal): Promise<Verdict> => {
  if (one.callback.isUnchecked !== true) return "signed";
  const certified = Object.hasOwn(deps.callbacks, one.provider) ? deps.callbacks[one.provider]?.certified : null;
  const url = certified?.addressOf(one.callback.body);
  if (!certified || !url) return refused(deps, one, "names no certificate");
  const pem = await deps.certificate(url, signal).catch(falseWhenAway);
  const mayWait = isYoung(one.callback, deps.clock.now());
  if (pem === false)
    return mayWait ? "pending" : refused(deps, one, "names a certificate that could not be had in time");
  return pem === null
    ? refused(deps, one, "names a certificate that there is not")
    : judged(deps, one, { certified, url, pem });
};

const judged = async (
  deps: CheckDeps,
  one: Waiting,
  { certified, url, pem }: { certified: Certified; url: string; pem: string },
): Promise<Verdict> => {
  const problem = certified.problemOf(one.callback.body, { pem, trusted: deps.trusted() });
  if (problem?.of === "certificate") deps.log.error({ provider: one.provider, url, ...problem }, "certificate.refused");
  else await deps.share(url, pem);
  return problem === null ? "signed" : refused(deps, one, problem.reason);
};

const refused = ({ count, log }: CheckDeps, { provider, appId }: Waiting, reason: string): Verdict => {
  count({ provider, kind: "refused" }, 1);
  log.warn({ provider, app: appId, reason }, "callback.refused");
  return "refused";
};

/** A delivery is stored seconds after it was sent, a certificate fetched; minutes, while a store or the provider is away. */
const waitMs = 900_000;

/** Whether a callback may still wait for what it needs. */
export const isYoung = ({ receivedAt }: Pick<Callback, "receivedAt">, now: Date): boolean =>
  now.getTime() - receivedAt.getTime() < waitMs;
