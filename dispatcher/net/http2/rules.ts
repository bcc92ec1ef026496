import {
  ConnectionError,
  type ErrorName,
  type Frame,
  flags,
  frameTypes,
  maxFrameLength,
  maxWindow,
  settingIds,
} from "./frames.ts";

/** What a type of frame may be about, and how long it may be. */
type Rule = { about: "connection" | "stream" | "either"; fits?: (length: number, set: number) => boolean };

const exactly = (bytes: number) => (length: number) => length === bytes;

/** Source: RFC 9113 6. */
const rules: Readonly<Record<number, Rule>> = {
  [frameTypes.data]: { about: "stream" },
  [frameTypes.headers]: { about: "stream" },
  [frameTypes.priority]: { about: "stream" }, // a wrong length is an error of the stream only
  [frameTypes.resetStream]: { about: "stream", fits: exactly(4) },
  [frameTypes.settings]: {
    about: "connection",
    fits: (length, set) => ((set & flags.ack) === 0 ? length % 6 === 0 : length === 0),
  },
  [frameTypes.pushPromise]: { about: "stream" },
  [frameTypes.ping]: { about: "connection", fits: exactly(8) },
  [frameTypes.goaway]: { about: "connection", fits: (length) => length >= 8 },
  [frameTypes.windowUpdate]: { about: "either", fits: exactly(4) },
  [frameTypes.continuation]: { about: "stream" },
};

/** What is wrong with a frame by itself, so that the connection has to end. Unknown types are always fine. */
export const frameFault = ({ type, flags: set, streamId, payload }: Frame): ErrorName | null => {
  const rule = rules[type];
  if (rule === undefined) return null;
  if (rule.about !== "either" && (rule.about === "connection") !== (streamId === 0)) return "PROTOCOL_ERROR";
  return rule.fits?.(payload.length, set) === false ? "FRAME_SIZE_ERROR" : null;
};

/** The settings of a SETTINGS frame, by their number. Throws `ConnectionError` for a value that a server may not set. */
export const settingsOf = ({ payload }: Frame): Map<number, number> => {
  const settings = new Map<number, number>();
  for (let at = 0; at < payload.length; at += 6) {
    const id = payload.readUInt16BE(at);
    const value = payload.readUInt32BE(at + 2);
    const fault = settingFault(id, value);
    if (fault !== null) throw new ConnectionError(fault);
    settings.set(id, value);
  }
  return settings;
};

/** Source: RFC 9113 6.5.2. */
const settingFault = (id: number, value: number): ErrorName | null => {
  switch (id) {
    case settingIds.enablePush:
      return value === 0 ? null : "PROTOCOL_ERROR";
    case settingIds.initialWindowSize:
      return value <= maxWindow ? null : "FLOW_CONTROL_ERROR";
    case settingIds.maxFrameSize:
      return value >= maxFrameLength && value <= 0xff_ffff ? null : "PROTOCOL_ERROR";
    default:
      return null;
  }
};
