import { type Static, Type } from "typebox";
import { optionalSecret, poolSize, RedisConfig, SharedConfig } from "./shared.ts";

const { Integer, Object: Group, String: Text } = Type;

/** Settings of the apiserver. */
export const ApiserverConfig = Group(
  {
    ...SharedConfig,
    ...RedisConfig,
    mongodbPoolSize: poolSize(50),
    httpHost: Text({
      env: "HERALD_HTTP_HOST",
      default: "0.0.0.0",
      minLength: 1,
      maxLength: 255,
      description: "address that the REST interface listens on",
    }),
    httpPort: Integer({
      env: "HERALD_HTTP_PORT",
      default: 8080,
      minimum: 0,
      maximum: 65_535,
      description: "port of the REST interface; 0 takes a free one",
    }),
    cursorSecret: optionalSecret(
      "HERALD_CURSOR_SECRET",
      "signs the cursors of lists; derived from the key ring's first key when unset",
    ),
  },
  { additionalProperties: false },
);
export type ApiserverConfig = Static<typeof ApiserverConfig>;
