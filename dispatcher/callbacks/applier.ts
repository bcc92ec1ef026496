import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { chunks } from "#core/storage/messages/chunks.ts";
import { receiptStore } from "#core/storage/messages/receipts.ts";
import { sessions } from "#core/storage/people/sessions.ts";
import { failedReplies } from "../conversations/failed.ts";
import type { Suppressions } from "../suppressions/open.ts";
import { type ApplyDeps, applyReceipts } from "./apply.ts";
import { keepResends } from "./resends.ts";

export type ReceiptApplierDeps = Pick<ApplyDeps, "events"> & {
  db: Db;
  suppressions: Pick<Suppressions, "causesOf" | "suppress">;
  clock: Clock;
  /** Repeats what moves deliveries while MongoDB is away; left out: nothing is repeated. */
  repeat?: Repeat;
};

type Repeat = <Args extends unknown[], T>(write: (...given: Args) => Promise<T>) => (...given: Args) => Promise<T>;

/** {@link applyReceipts}, joined to MongoDB. */
export const receiptApplier = ({ db, suppressions, events, clock, repeat = (write) => write }: ReceiptApplierDeps) => {
  const receipts = receiptStore(db);
  return applyReceipts({
    receipts: {
      ...receipts,
      find: repeat(receipts.find),
      valuesOf: repeat(receipts.valuesOf),
      move: repeat(receipts.move),
    },
    causesOf: suppressions.causesOf,
    suppress: suppressions.suppress,
    closeSessions: sessions(db).close,
    repliesFailed: failedReplies(db),
    resend: keepResends({ plansOf: receipts.plansOf, keep: chunks(db).keep, clock }),
    events,
    clock,
  });
};
