import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { Figures } from "#core/domain/status/rules.ts";
import { type Check, outcomesOf } from "#core/runtime/process/health-server.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { statusDays } from "#core/storage/status/days.ts";
import { heartbeats } from "#core/storage/status/heartbeats.ts";
import { incidents } from "#core/storage/status/incidents.ts";
import { type Board, board, shownDays } from "./board.ts";
import { prometheusFigures } from "./prometheus.ts";

export type StatusDeps = {
  db: Db;
  /** Asks each store. */
  stores: Record<"mongodb" | "redis" | "jetstream", Check> & { files?: Check };
  settings: { prometheusUrl?: string | undefined; prometheusSelector: string };
  clock: Clock;
  log: Log;
};

/** The board of an apiserver: judged by what Prometheus knows when one is named, else by what the programs say. */
export const openBoard = ({ db, stores, settings, clock, log }: StatusDeps): Board => {
  const onError = (err: unknown): void => log.warn({ err }, "status.not_read");
  return board({
    reachable: async () => {
      const outcomes = new Map(await outcomesOf(stores));
      const isFileless = stores.files === undefined; // then nothing needs it
      const isUp = (name: keyof typeof stores): boolean => outcomes.get(name) === "ok";
      return {
        database: isUp("mongodb"),
        cache: isUp("redis"),
        queue: isUp("jetstream"),
        files: isFileless || isUp("files"),
      };
    },
    figures: figuresOf({ db, settings, clock, onError }),
    incidentsSince: incidents(db).since,
    history: { days: statusDays(db), shownDays },
    clock,
    onError,
  });
};

type FigureDeps = Pick<StatusDeps, "db" | "settings" | "clock"> & { onError: (error: unknown) => void };

/** A Prometheus that does not answer says nothing of the service: then the programs are asked as if there were none. */
const figuresOf = ({ db, settings, clock, onError }: FigureDeps): ((signal: AbortSignal) => Promise<Figures>) => {
  const said = (): Promise<Figures> => heartbeats(db).figures(clock.now());
  const { prometheusUrl: url, prometheusSelector: selector } = settings;
  if (url === undefined) return said;
  const measured = prometheusFigures({ url, selector });
  return (signal) =>
    measured(AbortSignal.any([signal, AbortSignal.timeout(prometheusMs)])).catch((error: unknown) => {
      onError(error);
      return said();
    });
};

const prometheusMs = 1_000; // the rest of a look's two seconds is for asking the programs instead
