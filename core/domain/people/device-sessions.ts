/** A session in an app, as a device tells it: when it began, and how many seconds it was so far. */
export type DeviceSession = { of: string; at: Date; s: number };

/** `new`: it was counted; `longer`: its time was; `known`: all of it was before. */
export type SessionCounted = "new" | "longer" | "known";

/** Sessions that are remembered of a person, so that one that is told again is counted once. */
const remembered = 10;

/** What a session that is told makes of those that a person is remembered with, and the seconds that come to their time. */
export const withSession = (
  known: readonly DeviceSession[],
  told: DeviceSession,
): { counted: SessionCounted; sessions: DeviceSession[]; seconds: number } => {
  const isSame = ({ of, at }: DeviceSession): boolean => of === told.of && at.getTime() === told.at.getTime();
  const before = known.find(isSame);
  if (before !== undefined && before.s >= told.s) return { counted: "known", sessions: [...known], seconds: 0 };
  return {
    counted: before === undefined ? "new" : "longer",
    sessions: [...known.filter((one) => !isSame(one)), told].slice(-remembered),
    seconds: told.s - (before?.s ?? 0),
  };
};
