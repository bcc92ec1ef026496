import { createHash } from "node:crypto";
import type { Collection } from "mongodb";
import type { Person } from "../mongo/collection.ts";
import { everyIdOf } from "../mongo/page-range.ts";
import type { ExportRow } from "./export-row.ts";

/** What an export of a person's data is found by again. It names nobody: it stays when they are gone. */
export const subjectOfPerson = (userId: string): string =>
  `personal_data/${createHash("sha256").update(userId).digest("base64url").slice(0, 22)}`;

/** Ends the exports of the data of somebody who is deleted: those that wait, and the time of a file that is there. */
export const eraseOfPerson = async (rows: Collection<ExportRow>, { appId, keys, at }: Person): Promise<number> => {
  for (const userId of [...keys].filter((key) => key.startsWith("usr_"))) {
    const ofPerson = { app_id: appId, subject: subjectOfPerson(userId), _id: everyIdOf("export") };
    await rows.updateMany(
      { ...ofPerson, status: { $in: ["pending", "running"] } },
      { $set: { ...ended(at), person: null }, $unset: { place: "" }, $inc: { fence: 1 } },
      { hint },
    );
    const withFile = { ...ofPerson, status: "completed" as const, file: { $ne: null } };
    await rows.updateMany(withFile, { $set: { expires_at: at, due_at: at } }, { hint });
  }
  return 0;
};

const hint = "subject";

const ended = (at: Date) =>
  ({ status: "failed", error: "HS_NOT_FOUND: the user is gone", completed_at: at, lease: null, due_at: at }) as const;
